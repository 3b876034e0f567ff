import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type Client, createClient } from '@holdpoint/client';
import { appEnv, projectDir } from './processes.ts';

/** `holdpoint up` as a user starts the system: Redis, the API and a worker under a single process. */
export interface Up extends AsyncDisposable {
  child: ChildProcess;
  client: Client;
}

export async function startUp(dataDir: string, env: Record<string, string>): Promise<Up> {
  const child = spawn(process.execPath, [join(projectDir, 'apps/cli/src/main.ts'), 'up', '--json'], {
    env: {
      ...appEnv,
      HOLDPOINT_DATA: dataDir,
      HOLDPOINT_PORT: '0',
      HOLDPOINT_SWEEP_MS: '1000',
      HOLDPOINT_DRAIN_MS: '500',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  const { address, key_file } = JSON.parse(String(line)) as { address: string; key_file: string };
  return {
    child,
    client: createClient({ baseUrl: address, key: readFileSync(key_file, 'utf8').trim() }),
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null) return;
      const gone = once(child, 'exit');
      child.kill('SIGTERM');
      await gone;
    },
  };
}
