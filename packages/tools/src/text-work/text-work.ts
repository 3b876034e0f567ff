import type { TextTasks } from './tasks.ts';

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
