import { setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { textTasks } from './tasks.ts';
import type { TextTaskName } from './text-work.ts';

export interface Question {
  name: TextTaskName;
  input: unknown;
}

export type Reply = { ok: true; output: unknown } | { ok: false; error: unknown };

/** `ready` comes once, before the first reply: the modules are loaded. */
export type Message = 'ready' | Reply;

// 0 means this thread only: on Linux each thread has a priority. The event loop of the process comes first.
setPriority(0, 10);

parentPort?.on('message', async ({ name, input }: Question) => {
  const reply = await perform(name, input);
  parentPort?.postMessage(reply, reply.ok ? buffersOf(reply.output) : []);
});

parentPort?.postMessage('ready' satisfies Message);

async function perform(name: TextTaskName, input: unknown): Promise<Reply> {
  try {
    const task = textTasks[name] as (given: unknown) => unknown;
    return { ok: true, output: await task(input) };
  } catch (error) {
    return { ok: false, error };
  }
}

/** The new content of a file is moved to the caller, not copied. */
function buffersOf(output: unknown): ArrayBuffer[] {
  const data = typeof output === 'object' && output !== null && 'data' in output ? output.data : undefined;
  const moves = data instanceof Uint8Array && data.byteLength === data.buffer.byteLength;
  return moves ? [data.buffer as ArrayBuffer] : [];
}
