import type { CommandResult, ToolOutcome } from '@holdpoint/contract';
import { cutShort, failure } from '../../../operations/cut-short.ts';
import type { ToolContext } from '../../../tool.ts';

export type Argv = readonly [string, ...string[]];

/** git without needless locks, questions and helper programs. */
export const gitEnvironment = {
  GIT_OPTIONAL_LOCKS: '0',
  GIT_TERMINAL_PROMPT: '0',
  GIT_ALLOW_PROTOCOL: 'file:https:ssh',
};

/** Runs a program without a shell. Every end but exit code 0 is the outcome, with the output. */
export async function runProgram(
  context: ToolContext,
  argv: Argv,
  { wallMs = 60_000, env = {} }: { wallMs?: number; env?: Record<string, string> } = {},
): Promise<{ ok: true; result: CommandResult } | { ok: false; outcome: ToolOutcome }> {
  const result = await context.run({ argv, env, secrets: true, limits: { wall_ms: wallMs } });
  const { end, capabilities } = result;
  const value = outputOf(result);
  if (end.status !== 'exited') {
    return { ok: false, outcome: { ...cutShort(end, argv[0]), value, capabilities } };
  }
  if (end.exit_code === 0) return { ok: true, result };
  const said = result.stderr.text.trim().split('\n', 1)[0] || `exit code ${end.exit_code}`;
  const failed = failure(
    'EEXIT',
    `${argv.slice(0, 2).join(' ')}: ${said}`,
    'Read stderr and stdout for the reason.',
    value,
  );
  return { ok: false, outcome: { ...failed, capabilities } };
}

export const outputOf = ({ end, stdout, stderr }: CommandResult) => ({
  exitCode: end.status === 'exited' ? end.exit_code : null,
  stdout: stdout.text,
  stderr: stderr.text,
  truncated: stdout.truncated || stderr.truncated,
});
