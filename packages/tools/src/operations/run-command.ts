import type { CommandResult, ToolOutcome } from '@holdpoint/contract';
import type { ToolContext } from '../tool.ts';
import { cutShort, failure } from './cut-short.ts';

/** Runs a line or script with bash. @param command.cwd relative to the workspace root */
export async function runCommand(
  context: ToolContext,
  { command, cwd, wall_ms }: { command: string; cwd: string; wall_ms: number },
): Promise<ToolOutcome> {
  return outcome(await context.run({ argv: ['/bin/bash', '-c', command], cwd, limits: { wall_ms }, secrets: true }));
}

function outcome(result: CommandResult): ToolOutcome {
  const { end, stdout, stderr, duration_ms, capabilities } = result;
  const output = {
    stdout: stdout.text,
    stderr: stderr.text,
    stdout_bytes: stdout.bytes,
    stderr_bytes: stderr.bytes,
    stdout_truncated: stdout.truncated,
    stderr_truncated: stderr.truncated,
    duration_ms,
  };
  if (end.status !== 'exited') {
    return { ...cutShort(end, 'The command'), value: { exit_code: null, signal: null, ...output }, capabilities };
  }
  const { exit_code, signal } = end;
  const value = { exit_code, signal, ...output };
  if (exit_code === 0 && signal === null) return { status: 'succeeded', value, capabilities };
  const message = signal === null ? `exit code ${exit_code}` : `ended by ${signal}`;
  return { ...failure('EEXIT', message, 'Read stderr and stdout for the reason.', value), capabilities };
}
