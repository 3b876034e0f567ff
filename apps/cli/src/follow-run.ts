import { type Client, ConnectionError, type LiveText } from '@holdpoint/client';
import { isTerminal, type Problem } from '@holdpoint/contract';
import type { Run, RunDetail, RunEvent } from '@holdpoint/contract/wire';
import { openApprovalDesk } from './deciding/approval-desk.ts';
import { howToCorrect } from './deciding/confirm.ts';
import { openAgentFollower } from './follow-agents.ts';
import { followPlace } from './follow-place.ts';
import { oneLine, plain, timeline, waitingText } from './output/index.ts';
import * as cli from './shell/index.ts';
import { openRunView, openScreen } from './view/index.ts';
import { adviceText } from './words-for-people.ts';

export interface FollowInput {
  runId: string;
  /** Print events as NDJSON instead of lines for people. */
  json: boolean;
  /** `true`: follow to the end. `false`: also end when the run waits for a decision. @default end when the run is paused */
  wait?: boolean | undefined;
  timeoutMs?: number | undefined;
  onEvent?: ((event: RunEvent) => void) | undefined;
}

interface Deps {
  shell: cli.Shell;
  client: Client;
}

/**
 * Follows a run from its first event until it ends, pauses, or waits for a paused sub-agent, and asks for open approvals on a terminal. Ctrl-C
 * stops the following, not the run. The follower waits for a lost API.
 *
 * @returns the run at this time
 * @throws Interrupted; CliError `timeout`, `stream_ended`, `api_gone`; ApiError, ConnectionError
 */
export async function followRun(deps: Deps, input: FollowInput): Promise<RunDetail> {
  const { shell, client } = deps;
  const { runId, timeoutMs } = input;
  using interrupted = cli.interruptSignal();
  const left = new AbortController();
  const late = timeoutMs === undefined ? [] : [AbortSignal.timeout(timeoutMs)];
  const signal = AbortSignal.any([interrupted, left.signal, ...late]);
  const reader = readerFor(deps, input, left);
  let last: RunEvent | undefined;
  try {
    // Without a server this fails at once.
    await client.getRun(runId, { signal });
    for await (const event of reader.open({ signal, patienceMs, onLost: reader.lost, onFound: reader.found })) {
      if (event.type === 'live') {
        reader.frame(event);
        continue;
      }
      if (event.type.startsWith('run.')) last = event;
      input.onEvent?.(event);
      await reader.event(event);
      const stopped = mayStop(event, input.wait) && (await runIfStopped(client, runId, { wait: input.wait, signal }));
      if (stopped) return await reader.end(stopped);
    }
    const run = await client.getRun(runId, { signal });
    if (isTerminal(run.status)) return await reader.end(run);
    throw new cli.CliError('stream_ended', `The events of ${runId} ended, but the run is ${run.status}.`);
  } catch (error) {
    await reader.close();
    if (interrupted.aborted || left.signal.reason instanceof cli.Interrupted) {
      for (const line of ['', ...whatContinues(last, runId)]) shell.say(line);
      throw interrupted.reason instanceof Error ? interrupted.reason : new cli.Interrupted('SIGINT');
    }
    if (left.signal.aborted) throw left.signal.reason;
    if (last !== undefined && error instanceof ConnectionError) {
      const next = [
        'The run does not need the API: its workers continue.',
        ...whatContinues(last, runId).slice(1),
      ].join('\n');
      throw new cli.CliError('api_gone', error.message, { next, cause: error });
    }
    if (!signal.aborted) throw error;
    throw new cli.CliError('timeout', `${runId} has not ended within ${(timeoutMs ?? 0) / 1000} s.`, {
      next: whatContinues(last, runId).join('\n'),
    });
  }
}

/** A follower's patience with a lost API: longer than a restart of its machine. */
const patienceMs = 600_000;
/** A restart of the API alone is not worth a word. */
const quietMs = 3000;

type Opening = NonNullable<Parameters<Client['events']>[1]>;

/** The consumer of a run's events. */
interface Reader {
  open(options: Opening): AsyncGenerator<RunEvent | LiveText>;
  lost: NonNullable<Opening['onLost']>;
  found(): void;
  frame(frame: LiveText): void;
  event(event: RunEvent): Promise<void>;
  end(run: RunDetail): Promise<RunDetail>;
  /** Gives the terminal back. */
  close(): Promise<void>;
}

function readerFor(deps: Deps, input: FollowInput, left: AbortController): Reader {
  const { shell, client } = deps;
  if (shell.redraws && !input.json) return openViewer(deps, input, left);
  const lines = timeline({ colors: shell.colors, width: shell.width, howToDecide });
  const answer = holdAnswer();
  let isLost = false;
  let isSaid = false;
  // Standard error: the lines of a script stay the events.
  const say = (text: string | undefined): void => {
    if (text === undefined || isSaid) return;
    isSaid = true;
    shell.say(`The run waits ${text}.`);
  };
  const place = input.json ? undefined : followPlace({ client, runId: input.runId, say });
  return {
    open: (options) => client.events(input.runId, options),
    lost(error, since) {
      if (isLost || Date.now() - since < quietMs) return;
      isLost = true;
      shell.say(`${plain(error.message)}; trying again for ${patienceMs / 60_000} minutes.`);
    },
    found() {
      if (isLost) shell.say('The API answers again.');
      isLost = false;
    },
    frame: () => undefined,
    async event(event) {
      if (input.json) return shell.printJson(event);
      place?.event(event);
      for (const one of answer.take(event)) for (const line of lines(one)) shell.print(line);
    },
    async end(run) {
      place?.stop();
      if (input.json) return run;
      for (const one of answer.rest()) for (const line of lines(one)) shell.print(line);
      const text = plain(run.message ?? '').trimEnd();
      if (text !== '') for (const line of ['', text]) shell.print(line);
      return run;
    },
    async close() {
      place?.stop();
      for (const one of answer.rest()) for (const line of lines(one)) shell.print(line);
    },
  };
}

/**
 * Takes the answer out of the event lines: the answer is printed once, whole, at the end. A turn without calls may be the last, so its
 * event waits for the next event.
 */
function holdAnswer() {
  let held: Extract<RunEvent, { type: 'turn.planned' }> | undefined;
  const rest = (): RunEvent[] => (held === undefined ? [] : [held]);
  return {
    take(event: RunEvent): RunEvent[] {
      const isEnd = event.type === 'run.closing' || event.type === 'run.succeeded';
      const before = rest().map((one) =>
        isEnd && one.type === 'turn.planned' && one.data.message === event.data.message
          ? { ...one, data: { ...one.data, message: '' } }
          : one,
      );
      held = event.type === 'turn.planned' && event.data.steps.length === 0 ? event : undefined;
      if (held !== undefined) return before;
      return [...before, isEnd ? ({ ...event, data: { ...event.data, message: '' } } as RunEvent) : event];
    },
    rest(): RunEvent[] {
      const left = rest();
      held = undefined;
      return left;
    },
  };
}

const redrawMs = 1000;

/** A person follows on a terminal. */
function openViewer(deps: Deps, { runId, wait }: FollowInput, left: AbortController): Reader {
  const { shell, client } = deps;
  const screen = openScreen({ write: shell.write, width: shell.width });
  const asks = shell.interactive && wait !== false;
  const view = openRunView({ screen, colors: shell.colors, asks, now: Date.now });
  const agents = openAgentFollower({
    ...{ client, patienceMs, colors: shell.colors, asks, now: Date.now },
    onEvent: (event, nested) => {
      if (desk === undefined && event.type === 'approval.requested') nested.print(howToDecide(event.data.approval_id));
    },
  });
  const place = followPlace({ client, runId, say: view.inLine });
  const timer = setInterval(() => {
    view.tick();
    agents.tick();
  }, redrawMs);
  const desk = asks
    ? openApprovalDesk(deps, {
        runId,
        hold: screen.hold,
        release: screen.release,
        leave: () => left.abort(new cli.Interrupted('SIGINT')),
        fail: (error) => left.abort(error),
      })
    : undefined;
  const close = async (): Promise<void> => {
    clearInterval(timer);
    place.stop();
    await desk?.close();
    await agents.close();
    screen.close();
  };
  return {
    open: (options) => client.liveEvents(runId, options),
    lost: (_, since) => view.lost(Date.now() - since < quietMs ? undefined : since),
    found: () => view.lost(undefined),
    frame: view.frame,
    async event(event) {
      await agents.event(event, screen);
      view.event(event);
      place.event(event);
      if (desk !== undefined) desk.event(event);
      else if (event.type === 'approval.requested') screen.print(howToDecide(event.data.approval_id));
    },
    async end(run) {
      await close();
      view.end(run);
      return run;
    },
    close,
  };
}

/** After Ctrl-C or a timeout: the further course of the run, and the commands to continue with. */
function whatContinues(last: RunEvent | undefined, runId: string): string[] {
  const isForPerson = last?.type === 'run.waiting' && last.data.for === 'approval';
  return [
    fateOf(last),
    ...(isForPerson ? [`decide:   ${cli.commandLine('approvals', 'list', '--run', runId)}`] : []),
    ...(last?.type === 'run.paused' ? [`resume:   ${cli.commandLine('runs', 'resume', runId)}`] : []),
    `follow:   ${cli.commandLine('watch', runId)}`,
  ];
}

function fateOf(last: RunEvent | undefined): string {
  switch (last?.type) {
    case 'run.waiting':
      if (last.data.for === 'model') return 'The run waits for its model, and continues by itself.';
      return last.data.for === 'approval' ? 'The run waits for a decision.' : 'The run stays as it is.';
    case 'run.paused':
      return 'The run stays paused.';
    case 'run.canceling':
      return 'The run is being canceled.';
    case 'run.succeeded':
    case 'run.failed':
    case 'run.canceled':
      return 'The run has ended; its publish continues.';
    default:
      return 'The run continues.';
  }
}

export const howToDecide = (approvalId: string): string[] => [
  `look:     ${cli.commandLine('approvals', 'show', approvalId)}`,
  `decide:   ${cli.commandLine('approvals', 'approve', approvalId)}    (or reject; show lists the other decisions)`,
];

const mayStop = (event: RunEvent, wait: boolean | undefined): boolean => {
  if (wait === true) return false;
  if (event.type === 'run.paused' || (event.type === 'run.waiting' && event.data.for === 'task')) return true;
  const needsPerson =
    (event.type === 'run.waiting' && event.data.for !== 'model') ||
    (event.type === 'approval.requested' && event.step_id === undefined);
  return wait === false && needsPerson;
};

/** The event may be old, and already answered. */
async function runIfStopped(
  client: Client,
  runId: string,
  { wait, signal }: { wait: boolean | undefined; signal: AbortSignal },
): Promise<RunDetail | undefined> {
  const run = await client.getRun(runId, { signal });
  const { status, publication } = run;
  const needsPerson = (status === 'waiting' && run.model_wait === null) || publication.status === 'parked';
  const isWaiting = wait === false && needsPerson;
  return status === 'paused' || isWaiting || waitsForPaused(run) ? run : undefined;
}

/** Only a resume continues the run. With an open approval beneath, the follower is asked for the approval first. */
const waitsForPaused = ({ status, pending_approvals, paused_agents }: RunDetail): boolean =>
  status === 'waiting' && pending_approvals === 0 && paused_agents > 0;

/** How a run ended, for scripts. */
export function exitCodeOf(run: Pick<Run, 'status' | 'reason' | 'publication'>): cli.ExitCode {
  if (run.publication.status === 'parked') return cli.exitCodes.waiting;
  switch (run.status) {
    case 'succeeded':
      return cli.exitCodes.ok;
    case 'failed':
      return run.reason?.code === 'EEXPIRED' ? cli.exitCodes.canceled : cli.exitCodes.failed;
    case 'canceling':
    case 'canceled':
      return cli.exitCodes.canceled;
    case 'waiting':
    case 'paused':
      return cli.exitCodes.waiting;
    case 'queued':
    case 'running':
      return cli.exitCodes.timeout;
    default:
      return run.status satisfies never;
  }
}

/** The reasons for the wait of a run or its sub-agents, and the commands by which they continue. */
function waitingSteps(run: RunDetail): string[] {
  const isPaused = run.waiting_for.some(({ status }) => status === 'paused');
  const reasons = run.waiting_for.flatMap(({ reason }) =>
    reason?.next === undefined ? [] : [oneLine(adviceText(reason.next), 200)],
  );
  return [
    ...run.waiting_for.map((one) => `waits:    ${waitingText(one)}`),
    ...new Set(reasons),
    ...(run.pending_approvals > 0 ? [`decide:   ${cli.commandLine('approvals', 'list', '--run', run.id)}`] : []),
    // Resuming a run resumes its paused sub-agents, too.
    ...(isPaused ? [`resume:   ${cli.commandLine('runs', 'resume', run.id)}`] : []),
  ];
}

/** Whether the advice to a paused run is to lead its model elsewhere. */
const asksForMessage = ({ planner, reason }: RunDetail): boolean =>
  planner === 'model' && /\bsend (it )?a message\b/i.test(reason?.next ?? '');

const afterValidator = ({ id }: RunDetail, { message }: Problem): string[] => [
  plain(message),
  ...howToCorrect(id),
  `again:    ${cli.commandLine('runs', 'publish', id)}    (the cause was outside of the files)`,
];

/** The commands to try next on a run. */
export function nextSteps(run: RunDetail): string[] {
  switch (run.status) {
    case 'succeeded':
      if (run.publication.approval_id !== null) return howToDecide(run.publication.approval_id);
      if (run.publication.status === 'published') return [];
      if (run.publication.reason?.code === 'validator_failed') return afterValidator(run, run.publication.reason);
      if (run.workspace.snapshot === run.workspace.base) return ['It changed nothing.'];
      return [
        `review:   ${cli.commandLine('runs', 'diff', run.id)}`,
        // An empty source or an archive is no target of a publish.
        ...(run.request.source.type === 'empty' || run.request.source.type === 'archive'
          ? [`download: ${cli.commandLine('runs', 'download', run.id)}`]
          : [`publish:  ${cli.commandLine('runs', 'publish', run.id)}`]),
      ];
    case 'failed':
      return [
        `steps:    ${cli.commandLine('runs', 'steps', run.id)}`,
        `changes:  ${cli.commandLine('runs', 'diff', run.id)}`,
      ];
    case 'waiting':
      return waitingSteps(run);
    case 'paused':
      return [
        ...(run.reason?.next === undefined ? [] : [plain(adviceText(run.reason.next))]),
        ...(asksForMessage(run) ? [`say:      ${cli.commandLine('runs', 'say', run.id)} "…"`] : []),
        `resume:   ${cli.commandLine('runs', 'resume', run.id)}`,
      ];
    case 'queued':
    case 'running':
      return [`follow:   ${cli.commandLine('watch', run.id)}`];
    case 'canceling':
    case 'canceled':
      return [];
    default:
      return run.status satisfies never;
  }
}
