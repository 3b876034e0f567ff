import type { CommandEnd, ProcessLimits, Validator, ValidatorResult } from '@holdpoint/contract';
import type { Command, Sandbox, WorkspaceMount } from '@holdpoint/sandbox';
import { quotaText } from './quota-text.ts';

/** Runs a validator in a sandbox without a network. Only exit code 0 is a pass. */
export async function runValidator(
  sandbox: Sandbox,
  workspace: WorkspaceMount,
  { command, name, timeout_s }: Validator,
  { limits, ...rest }: Pick<Command, 'filter' | 'signal'> & { limits: Partial<ProcessLimits> },
): Promise<ValidatorResult> {
  const { end, stdout, stderr, duration_ms, capabilities } = await sandbox.run({
    workspace,
    argv: ['/bin/bash', '-c', command],
    limits: { ...limits, wall_ms: timeout_s * 1000 },
    ...rest,
  });
  return {
    name: name ?? command.slice(0, longestName),
    command,
    ...judge(end),
    stdout: stdout.text,
    stdout_bytes: stdout.bytes,
    stderr: stderr.text,
    stderr_bytes: stderr.bytes,
    duration_ms,
    capabilities,
  };
}

const longestName = 100;

function judge(end: CommandEnd): Pick<ValidatorResult, 'status' | 'exit_code' | 'detail'> {
  switch (end.status) {
    case 'exited': {
      const { exit_code, signal } = end;
      const passed = exit_code === 0 && signal === null;
      return { status: passed ? 'passed' : 'failed', exit_code, detail: signal && `ended by ${signal}` };
    }
    case 'timed_out':
      return { status: 'timed_out', exit_code: null, detail: `still running after ${end.after_ms / 1000} s` };
    case 'quota':
      return { status: 'failed', exit_code: null, detail: quotaText(end) };
    case 'killed':
      return { status: 'killed', exit_code: null, detail: end.reason };
    default:
      return end satisfies never;
  }
}
