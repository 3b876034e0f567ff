import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type Client, createClient } from '@holdpoint/client';
import { expect, expectEqual, Unexpected } from './expect.ts';
import { proof, quote } from './say.ts';

export interface System {
  address: string;
  client: Client;
  /** Stops every process. */
  stop(): Promise<void>;
}

interface StartInput {
  /** `apps/cli/src/main.ts` */
  command: string;
  data: string;
  signal: AbortSignal;
}

/** Starts Redis, the API and a worker with `holdpoint up` on a free port. */
export async function startSystem({ command, data, signal }: StartInput): Promise<System> {
  const { REDIS_URL: _redis, HOLDPOINT_KEY: _key, HOLDPOINT_URL: _url, ...inherited } = process.env;
  const env = { ...inherited, HOLDPOINT_DATA: data, HOLDPOINT_PORT: '0' };
  const child = spawn(process.execPath, [command, 'up', '--json'], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const exit = once(child, 'exit');
  createInterface(child.stderr).on('line', quote);
  const stop = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
    await exit;
    expectEqual(child.exitCode, 0, 'exit code of `holdpoint up`');
  };
  try {
    const ready = firstLine(child.stdout, signal);
    const line = await Promise.race([ready, exit.then(([code]) => `exit ${code}`)]);
    expect(line.startsWith('{'), `\`holdpoint up\` to be ready, but it ended (${line})`);
    const { address, key_file } = JSON.parse(line) as { address: string; key_file: string };
    const key = (await readFile(key_file, 'utf8')).trim();
    const client = createClient({ baseUrl: address, key });
    const processes = await processesOf(data);
    return {
      address,
      client,
      async stop() {
        await client.close();
        await stop();
        expectEqual(processes.filter(isAlive).join(), '', 'remaining processes');
        proof('no process is left');
      },
    };
  } catch (error) {
    if (child.exitCode === null) await stop();
    throw error;
  }
}

/** The API and the workers, from the record of `up`. */
async function processesOf(data: string): Promise<number[]> {
  const { children } = JSON.parse(await readFile(join(data, 'up.json'), 'utf8')) as { children: { pid: number }[] };
  expect(children.length >= 2, 'an API and a worker');
  return children.map(({ pid }) => pid);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function firstLine(stream: NodeJS.ReadableStream, signal: AbortSignal): Promise<string> {
  for await (const line of createInterface({ input: stream, signal })) return line;
  signal.throwIfAborted();
  throw new Unexpected('`holdpoint up` printed nothing');
}
