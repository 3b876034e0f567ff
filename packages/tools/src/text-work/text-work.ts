import type { TextTasks } from './tasks.ts';

export type TextTaskName = keyof TextTasks;
export type TextInput<Name extends TextTaskName> = Parameters<TextTasks[Name]>[0];
type TextOutput<Name extends TextTaskName> = Awaited<ReturnType<TextTasks[Name]>>;

/**
 * Work on texts that may be large. Small ones are worked on at once; all others in a thread that has a deadline, and ends with the call.
 *
 * @throws TextWorkError when it takes too long or too much memory; the reason of the call's signal when that is aborted
 */
export interface TextWork {
  run<Name extends TextTaskName>(name: Name, input: TextInput<Name>): Promise<TextOutput<Name>>;
}

/** Data for the planner, as a `FileError` is. */
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
