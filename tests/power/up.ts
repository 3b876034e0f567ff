import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Client, createClient } from '@holdpoint/client';
import { layersEnv, projectDir } from '../harness/processes.ts';

/** `holdpoint up` as a user starts the system: Redis, the API and a worker under a single process. */
export interface Up {
  pid: number;
  client: Client;
  /** Shuts the system down. */
  stop(): Promise<void>;
}

/** A started `up`, possibly not ready yet. */
export interface Starting {
  pid: number;
  /** Rejects with the output of `up` when `up` exits before its readiness. */
  ready: Promise<Up>;
}

/** Shorter than the defaults, to shorten the tests' waits. */
const times = {
  HOLDPOINT_LOCK_MS: '2000',
  HOLDPOINT_STALLED_MS: '1000',
  HOLDPOINT_SWEEP_MS: '1000',
  HOLDPOINT_DRAIN_MS: '500',
};

/** @param bootId replaces /proc/sys/kernel/random/boot_id: every power cut is followed by another boot */
export function startUp({
  dataDir,
  bootId,
  env,
}: {
  dataDir: string;
  bootId: string;
  env: Readonly<Record<string, string>>;
}): Starting {
  const child = spawn(process.execPath, [join(projectDir, 'apps/cli/src/main.ts'), 'up', '--json'], {
    cwd: projectDir,
    env: {
      PATH: process.env.PATH ?? '',
      HOME: process.env.HOME ?? '',
      ...{ HOLDPOINT_DATA: dataDir, HOLDPOINT_PORT: '0', HOLDPOINT_BOOT_ID: bootId },
      ...layersEnv,
      ...times,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const { pid } = child;
  if (pid === undefined) throw new Error('`up` could not be started');
  const written = { stdout: '', stderr: '' };
  child.stderr.setEncoding('utf8').on('data', (text) => {
    written.stderr += text;
  });
  const gone = once(child, 'exit');
  const ready = new Promise<Up>((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (text) => {
      written.stdout += text;
      const [line, rest] = written.stdout.split('\n');
      if (rest === undefined) return;
      const { address, key_file }: { address?: string; key_file?: string } = JSON.parse(line ?? '');
      if (address === undefined || key_file === undefined) {
        return reject(new Error(`up did not start the system: ${line}`));
      }
      const client = createClient({ baseUrl: address, key: readFileSync(key_file, 'utf8').trim() });
      resolve({
        ...{ pid, client },
        async stop() {
          await client.close();
          child.kill('SIGTERM');
          await gone;
        },
      });
    });
    gone.then(([code, signal]) =>
      reject(new Error(`up ended before it was ready (${signal ?? `exit ${code}`}): ${written.stderr}`)),
    );
  });
  // Not awaited when the test cuts the power during the start.
  ready.catch(() => undefined);
  return { pid, ready };
}
