import type { CommandRequest, CommandResult } from '@holdpoint/contract';
import type { ToolContext } from '../tool.ts';

export interface Code extends Omit<CommandRequest, 'argv' | 'stdin'> {
  /** The program to run the code, for example `python3`, with its arguments. */
  program: readonly [string, ...string[]];
  code: string;
  /** Arguments of the code. */
  args?: readonly string[];
}

/**
 * Runs code of any size: the code goes through the standard input into a file outside the workspace, because an argument of a command has
 * at most 128 KiB. The code's own standard input is empty. Exit code 126: the file could not be written.
 */
export function runCode(
  { run, random }: ToolContext,
  { program, code, args = [], ...request }: Code,
): Promise<CommandResult> {
  const file = `/tmp/code-${Math.floor(random() * 2 ** 48).toString(16)}`;
  return run({ ...request, argv: ['/bin/sh', '-c', script, file, ...program, file, ...args], stdin: code });
}

/** The path of the file is the name of the script. */
const script = '(umask 077; cat >"$0") || exit 126; "$@" </dev/null; code=$?; rm -f "$0"; exit "$code"';
