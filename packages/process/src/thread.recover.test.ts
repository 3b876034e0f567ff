import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { isOutOfMemory, startThread, type ThreadOptions } from './thread.ts';

const folder = mkdtempSync(join(tmpdir(), 'holdpoint-thread-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a script as a thread until the thread ends. */
async function run(code: string, more: Partial<ThreadOptions<unknown>> = {}) {
  const script = join(folder, `${crypto.randomUUID()}.mjs`);
  writeFileSync(script, `import { parentPort, workerData } from 'node:worker_threads';\n${code}`);
  const { promise, resolve } = Promise.withResolvers<unknown>();
  const messages: unknown[] = [];
  const ends: unknown[] = [];
  const onEnd = (error: unknown): void => {
    ends.push(error);
    resolve(error);
  };
  const onMessage = (message: unknown): void => void messages.push(message);
  const worker = startThread(pathToFileURL(script), { name: 'it', keepsAlive: true, onMessage, onEnd, ...more });
  const ended = await promise;
  await worker.terminate();
  expect(ends).toHaveLength(1);
  return { ended, messages };
}

test('a thread gets its data and none of the variables of the process, and its end is reported once', async () => {
  const code = 'parentPort.postMessage([workerData, process.env.PATH ?? null]);';
  const { ended, messages } = await run(code, { data: { a: 1 } });
  expect(messages).toEqual([[{ a: 1 }, null]]);
  expect(ended).toEqual(new Error('it ended with 0'));
  const { messages: inherited } = await run(code, { env: 'inherited' });
  expect(inherited).toEqual([[undefined, process.env.PATH]]);
});

test('an error and an exit end a thread with their reason', async () => {
  expect((await run('throw new TypeError("broken");')).ended).toEqual(new TypeError('broken'));
  expect((await run('process.exit(3);')).ended).toEqual(new Error('it ended with 3'));
  expect(isOutOfMemory(new Error('it ended with 3'))).toBe(false);
});
