import type { CommandEnd, Problem, ToolOutcome } from '@holdpoint/contract';

/** The status and error of a command without a normal exit. @param name the name of the command in messages */
export function cutShort(
  end: Exclude<CommandEnd, { status: 'exited' }>,
  name: string,
): { status: 'failed' | 'timed_out' | 'killed'; error: Problem } {
  switch (end.status) {
    case 'timed_out':
      return {
        status: 'timed_out',
        error: {
          code: 'ETIMEOUT',
          message: `${name} was still running after ${end.after_ms / 1000} s and was killed with everything it started.`,
          next: 'Do less in one call, or raise timeout_s if the tool has it. A server or watcher never ends by itself.',
        },
      };
    case 'quota':
      return {
        status: 'failed',
        error: {
          code: 'EQUOTA',
          message: `${name} was killed: it ${quotas[end.quota]} ${end.limit}${end.quota === 'disk' ? ' bytes' : ''}.`,
          next: nextSteps[end.quota],
        },
      };
    case 'killed':
      return {
        status: 'killed',
        error: {
          code: 'EKILLED',
          message: `${name} was killed: ${end.reason}`,
          next: 'Do not assume that its effects are complete.',
        },
      };
    default:
      return end satisfies never;
  }
}

type Quota = Extract<CommandEnd, { status: 'quota' }>['quota'];

const quotas = {
  output: 'passed its limit of output bytes of',
  cpu: 'passed its limit of CPU seconds of',
  file_size: 'passed its limit of bytes in one file of',
  memory: 'passed its limit of memory bytes of',
  workspace: 'passed its limit of bytes in the workspace of',
  disk: 'wrote most while the free space of the disk fell towards',
  processes: 'passed its limit of processes of',
} as const satisfies Record<Quota, string>;

const nextSteps = {
  output: 'Make it print less, e.g. with head, tail or grep, or send its output to a file.',
  cpu: 'Make it compute less, or look for an endless loop.',
  file_size: 'Make it write smaller files.',
  memory: 'Make it use less memory.',
  workspace: 'Delete what is not needed; nothing can be added while the workspace is this large.',
  disk: 'Delete what is not needed and write less. No new work starts until there is space on the disk.',
  processes: 'Make it start fewer processes or threads at once.',
} as const satisfies Record<Quota, string>;

export type Failure = Extract<ToolOutcome, { status: 'failed' | 'timed_out' | 'killed' }>;

/** @param next the planner's next step */
export function failure(code: string, message: string, next: string, value?: unknown): Failure {
  return { status: 'failed', error: { code, message, next }, value };
}
