import { setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { type TextTasks, textTasks } from './tasks.ts';

export type TextTaskName = keyof TextTasks;
export type TextInput<Name extends TextTaskName> = Parameters<TextTasks[Name]>[0];
type TextOutput<Name extends TextTaskName> = Awaited<ReturnType<TextTasks[Name]>>;

/**
 * Work on texts of any size. Small texts are processed immediately, all others in a thread with a deadline. The thread's work ends with the call.
 *
 * @throws TextWorkError when the work takes too long or too much memory; the reason of the call's signal when the signal aborts
 */
export interface TextWork {
  run<Name extends TextTaskName>(name: Name, input: TextInput<Name>): Promise<TextOutput<Name>>;
}

/** The registry returns the error to the planner as data, like a `FileError`. */
export class TextWorkError extends Error {
  override readonly name = 'TextWorkError';
  readonly code: 'ETEXTTIME' | 'ETEXTMEMORY';
  readonly next = 'Work on a smaller file or a smaller part of it, or use a command such as sed, awk or grep.';
  readonly retryable = false;

  constructor(code: 'ETEXTTIME' | 'ETEXTMEMORY', message: string) {
    super(message);
    this.code = code;
  }
}

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
