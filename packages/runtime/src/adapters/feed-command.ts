import { once } from 'node:events';
import type { Writable } from 'node:stream';
import type { TaskInput } from '@holdpoint/contract';

/** The key that ends a line, as a pipe and as a terminal have it. */
const enterKeys = { pipe: '\n', terminal: '\r' } as const;

/**
 * Writes the inputs of a command, each when the one before is written, so a command that reads nothing keeps one text in memory. Resolves at the
 * end of the inputs or of the command.
 */
export async function feedCommand(
  stdin: Writable,
  inputs: AsyncIterable<TaskInput>,
  kind: 'pipe' | 'terminal',
): Promise<void> {
  // The command may end before its input is written.
  stdin.on('error', () => {});
  for await (const { text, enter, end } of inputs) {
    if (!stdin.writable) return;
    const written = stdin.write(text + (enter ? enterKeys[kind] : ''));
    if (!written) await Promise.race([once(stdin, 'drain'), once(stdin, 'close')]).catch(() => {});
    if (end) stdin.end();
  }
}
