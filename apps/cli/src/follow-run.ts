import type { Client } from '@holdpoint/client';
import { isTerminal } from '@holdpoint/contract';
import type { Run, RunDetail, RunEvent } from '@holdpoint/contract/wire';
import { oneLine, plain, timeline, waitingText } from './output/index.ts';
import {
  CliError,
  commandLine,
  type ExitCode,
  exitCodes,
  Interrupted,
  interruptSignal,
  type Shell,
} from './shell/index.ts';

export interface FollowInput {
  runId: string;
  /** Print events as NDJSON instead of lines for people. */
  json: boolean;
  /** Also end when the run waits for a person. */
  stopWhenWaiting: boolean;
  timeoutMs?: number | undefined;
}

/**
 * Prints a run's events from the first one until the run ends. Ctrl-C stops the printing, not the run.
 *
 * @returns the run at its end
 * @throws Interrupted; CliError `timeout`, `stream_ended`; ApiError, ConnectionError
 */
export async function followRun(deps: { shell: Shell; client: Client }, input: FollowInput): Promise<RunDetail> {
  const { shell, client } = deps;
  const { runId, json, timeoutMs } = input;
  using interrupted = interruptSignal();
  const late = timeoutMs === undefined ? [] : [AbortSignal.timeout(timeoutMs)];
  const signal = AbortSignal.any([interrupted, ...late]);
  const lines = timeline({ colors: shell.colors, width: shell.width, howToDecide });
  try {
    for await (const event of client.events(runId, { signal })) {
      if (json) shell.printJson(event);
      else for (const line of lines(event)) shell.print(line);
      const waiting = input.stopWhenWaiting && needsPerson(event) && (await runIfWaiting(client, runId, signal));
      if (waiting) return waiting;
    }
    const run = await client.getRun(runId, { signal });
    if (isTerminal(run.status)) return run;
    throw new CliError('stream_ended', `The events of ${runId} ended, but the run is ${run.status}.`);
  } catch (error) {
    if (interrupted.aborted) {
      shell.say(`\nThe run continues. To follow it again: ${commandLine('watch', runId)}`);
      throw interrupted.reason instanceof Error ? interrupted.reason : new Interrupted('SIGINT');
    }
    if (!signal.aborted) throw error;
    throw new CliError('timeout', `${runId} has not ended within ${(timeoutMs ?? 0) / 1000} s; it continues.`, {
      next: `To follow it again: ${commandLine('watch', runId)}`,
    });
  }
}

export const howToDecide = (approvalId: string): string[] => [
  `look:     ${commandLine('approvals', 'show', approvalId)}`,
  `decide:   ${commandLine('approvals', 'approve', approvalId)}    (or reject; show lists the other decisions)`,
];

const needsPerson = (event: RunEvent): boolean =>
  (event.type === 'run.waiting' && event.data.for !== 'model') ||
  event.type === 'run.paused' ||
  (event.type === 'approval.requested' && event.step_id === undefined);

/** The event may be old, and already answered. */
async function runIfWaiting(client: Client, runId: string, signal: AbortSignal): Promise<RunDetail | undefined> {
  const run = await client.getRun(runId, { signal });
  const { status, publication } = run;
  const waits = status === 'waiting' && run.model_wait === null;
  return waits || status === 'paused' || publication.status === 'parked' ? run : undefined;
}

/** How a run ended, for scripts. */
export function exitCodeOf(run: Pick<Run, 'status' | 'reason' | 'publication'>): ExitCode {
  if (run.publication.status === 'parked') return exitCodes.waiting;
  switch (run.status) {
    case 'succeeded':
      return exitCodes.ok;
    case 'failed':
      return run.reason?.code === 'EEXPIRED' ? exitCodes.canceled : exitCodes.failed;
    case 'canceling':
    case 'canceled':
      return exitCodes.canceled;
    case 'waiting':
    case 'paused':
      return exitCodes.waiting;
    case 'queued':
    case 'running':
      return exitCodes.timeout;
    default:
      return run.status satisfies never;
  }
}

/** What a run or its sub-agents wait for, and what lets them continue. */
function waitingSteps(run: RunDetail): string[] {
  const isPaused = run.waiting_for.some(({ status }) => status === 'paused');
  const reasons = run.waiting_for.flatMap(({ reason }) =>
    reason?.next === undefined ? [] : [oneLine(reason.next, 200)],
  );
  return [
    ...run.waiting_for.map((one) => `waits:    ${waitingText(one)}`),
    ...new Set(reasons),
    ...(run.pending_approvals > 0 ? [`decide:   ${commandLine('approvals', 'list', '--run', run.id)}`] : []),
    // Resuming a run resumes its paused sub-agents, too.
    ...(isPaused ? [`resume:   ${commandLine('runs', 'resume', run.id)}`] : []),
  ];
}

/** The commands to try next on a run. */
export function nextSteps(run: RunDetail): string[] {
  switch (run.status) {
    case 'succeeded':
      if (run.publication.approval_id !== null) return howToDecide(run.publication.approval_id);
      if (run.publication.status === 'published') return [];
      if (run.workspace.snapshot === run.workspace.base) return ['It changed nothing.'];
      return [
        `review:   ${commandLine('runs', 'diff', run.id)}`,
        // An empty source or an archive is no target of a publish.
        ...(run.request.source.type === 'empty' || run.request.source.type === 'archive'
          ? [`download: ${commandLine('runs', 'download', run.id)}`]
          : [`publish:  ${commandLine('runs', 'publish', run.id)}`]),
      ];
    case 'failed':
      return [`steps:    ${commandLine('runs', 'steps', run.id)}`, `changes:  ${commandLine('runs', 'diff', run.id)}`];
    case 'waiting':
      return waitingSteps(run);
    case 'paused':
      return [
        ...(run.reason?.next === undefined ? [] : [plain(run.reason.next)]),
        `resume:   ${commandLine('runs', 'resume', run.id)}`,
      ];
    case 'queued':
    case 'running':
      return [`follow:   ${commandLine('watch', run.id)}`];
    case 'canceling':
    case 'canceled':
      return [];
    default:
      return run.status satisfies never;
  }
}
