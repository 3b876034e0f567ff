import type { AgentReport, PreparedFrom, Problem } from '@holdpoint/contract';
import type { RunEvent } from '@holdpoint/contract/wire';
import { codeText, cut, nameText, oneLine } from '@holdpoint/readable';
import type { Colors } from '../shell/index.ts';
import { argsInWords, payloadValue } from './call-text.ts';
import { clock, counted, duration } from './units.ts';

const typeWidth = 'workspace.publish_requested'.length;

/** What an event says, in words that are not yet safe for a terminal. */
export const eventText = (event: RunEvent, call: string): string => detailOf(event, call);

export interface TimelineOptions {
  colors: Colors;
  /** Columns of a line. */
  width: number;
  /** Lines to print after an approval. */
  howToDecide(approvalId: string): string[];
}

/** Turns a run's events, in order from the first one, into lines for people. */
export function timeline({ colors, width, howToDecide }: TimelineOptions): (event: RunEvent) => string[] {
  const calls = new Map<string, string>();
  return (event) => {
    if (event.type === 'step.created') calls.set(event.step_id, callText(event.data));
    const call = callOf(event, calls);
    const detail = oneLine(detailOf(event, call), Math.max(40, width - typeWidth - 12));
    const line = `${colors.dim(clock(event.time))}  ${paintOf(event, colors)(event.type.padEnd(typeWidth))}  ${detail}`;
    const more = event.type === 'approval.requested' ? howToDecide(event.data.approval_id) : [];
    return [line.trimEnd(), ...more.map((text) => `          ${text}`)];
  };
}

/** The call that an event belongs to. An approval without a step belongs to the publish. */
function callOf(event: RunEvent, calls: ReadonlyMap<string, string>): string {
  if (!('step_id' in event)) return event.type.startsWith('approval.') ? 'publish' : '';
  return event.step_id === undefined ? 'publish' : (calls.get(event.step_id) ?? event.step_id);
}

function callText({ name, tool, args }: Extract<RunEvent, { type: 'step.created' }>['data']): string {
  const label = name === undefined ? tool : `${name}: ${tool}`;
  return `${label} ${cut(argsInWords(payloadValue(args)).words, 60)}`.trim();
}

function detailOf(event: RunEvent, call: string): string {
  switch (event.type) {
    case 'run.created': {
      const { title, forked_from: from } = event.data;
      return `${event.run_id} ${title}${from === undefined ? '' : ` (from ${from.run_id}, ${afterStep(from.step_id)})`}`;
    }
    case 'run.started':
    case 'run.canceled':
    case 'workspace.discarded':
      return '';
    case 'run.waiting':
      return {
        approval: 'for an approval',
        task: 'for sub-agents that wait or are paused',
        calls: 'for calls from outside',
        model: 'for its model',
      }[event.data.for];
    case 'run.resumed':
      return {
        approval: 'after the decision',
        task: 'a sub-agent continues',
        pause: 'after the pause',
        end: 'after its end',
        calls: 'its caller has gone on',
        model: event.data.by === undefined ? 'the model answered' : `${event.data.by} has the model asked now`,
      }[event.data.after];
    case 'run.extended':
      return `limits count from here, by ${event.data.by}`;
    case 'run.paused':
    case 'run.failed':
      return problemText(event.data.reason);
    case 'run.rewound': {
      const { undone, to_step, by } = event.data;
      return `${counted(undone.length, 'step')} undone by ${by}: ${afterStep(to_step)}`;
    }
    case 'run.forked':
      return `${event.data.child} continues ${afterStep(event.data.step_id)}`;
    case 'run.closing':
      return [`${event.data.as}, when its background tasks have ended`, event.data.message].filter(Boolean).join(': ');
    case 'run.repaired':
      return `${event.data.class}${event.data.subject === undefined ? '' : ` (${event.data.subject})`}`;
    case 'calls.received': {
      const { number, steps, by } = event.data;
      return `${number}: ${counted(steps.length, 'call')} from ${by}`;
    }
    case 'message.received':
      return `from ${event.data.by}: ${event.data.text}`;
    case 'step.deferred':
      return `${call} until ${event.data.task_id} is over, or ${event.data.until}`;
    case 'task.created':
      return [event.data.task_id, event.data.agent && `${event.data.agent}:`, event.data.title]
        .filter(Boolean)
        .join(' ');
    case 'task.started':
      return event.data.task_id;
    case 'task.used': {
      const { steps, input_tokens, output_tokens } = event.data.report.used;
      return `${event.data.task_id} ${counted(steps, 'step')}, ${input_tokens + output_tokens} tokens so far`;
    }
    case 'task.waiting':
      return `${event.data.task_id} ${blockageText(event.data.report)}`;
    case 'task.reserved':
      return `${event.data.task_id} starts one more sub-agent below (${event.data.for_step})`;
    case 'task.resumed':
      return event.data.task_id;
    case 'task.kill_requested':
      return `${event.data.task_id} by ${event.data.by}`;
    case 'task.exited':
    case 'task.ended': {
      const { task_id, status, exit_code, reason } = event.data;
      const code = exit_code === null ? '' : ` (exit code ${exit_code})`;
      return `${task_id} ${status}${code}${reason === undefined ? '' : ` ${problemText(reason)}`}`;
    }
    case 'run.canceling':
      return `by ${event.data.by}${event.data.message === undefined ? '' : `: ${event.data.message}`}`;
    case 'run.succeeded':
      return event.data.message;
    case 'turn.planned':
      return `${event.data.turn}: ${event.data.message}`;
    case 'step.created':
      return `${call} (${event.data.effect}, ${event.data.risk} risk)`;
    case 'step.queued':
      return `${call} (${event.data.reason})`;
    case 'step.started':
      return `${call}${event.data.attempt > 1 ? ` (attempt ${event.data.attempt})` : ''}`;
    case 'step.held':
      return `${call} waits for a person after all: ${event.data.reason}; nothing ran`;
    case 'step.cancel_requested': {
      const { by, message } = event.data;
      return `${call} by ${by}${message === undefined ? '' : `: ${message}`}`;
    }
    case 'step.retried':
    case 'step.indeterminate':
      return `${call} ${problemText(event.data.reason)}`;
    case 'step.succeeded':
    case 'step.failed':
    case 'step.killed':
    case 'step.timed_out':
    case 'step.rejected':
    case 'step.expired':
    case 'step.canceled':
      return [call, took(event.data.duration_ms), event.data.error && problemText(event.data.error)]
        .filter(Boolean)
        .join(' ');
    case 'approval.requested':
      return `${call} (${event.data.risk} risk; ${event.data.reason}${changedPaths(event.data.changed)})`;
    case 'approval.decided':
      return `${call}: ${event.data.decision} by ${event.data.by}${event.data.message === undefined ? '' : `: ${event.data.message}`}`;
    case 'approval.voted':
      return `${call}: approved by ${event.data.by}; more callers have to approve`;
    case 'approval.delegated':
      return `${call}: ${event.data.from} lets ${event.data.to} decide`;
    case 'approval.reminded':
      return `${call} still waits for a decision (reminder ${event.data.times})`;
    case 'approval.escalated':
      return `${call}: ${event.data.to.join(', ')} may decide as well`;
    case 'rule.remembered': {
      const { rule_id, tool, scope, expires_at, by } = event.data;
      const where = scope === 'run' ? 'in this run' : 'in all runs of the tenant';
      return `${rule_id}: the same ${tool} call needs no decision ${where} until ${expires_at}, by ${by}`;
    }
    case 'rule.revoked':
      return `${event.data.rule_id} by ${event.data.by}`;
    case 'approval.expired':
      return call;
    case 'approval.canceled':
      return `${call} (${event.data.reason})`;
    case 'network.connected': {
      const { host, port, verdict, reason, detail } = event.data;
      const why = reason === undefined ? '' : ` (${reason})`;
      return `${call} → ${host}:${port} ${verdict}${why}${detail === undefined ? '' : `: ${detail}`}`;
    }
    case 'network.counted':
      return `${call} → ${event.data.counts.map(countText).join('; ')}`;
    case 'context.instructed':
      return instructedText(event.data);
    case 'context.compacted': {
      const { how, through_turn, tokens_before, tokens_after } = event.data;
      const what = how === 'summarised' ? 'turns summarised' : 'results cut';
      return `${what} up to turn ${through_turn}: about ${tokens_before} tokens became ${tokens_after}`;
    }
    case 'model.retrying': {
      const { model, next, failures, until, reason } = event.data;
      const why = `${model} ${failures === 0 ? 'is not asked now' : `could not be asked (${failures} in a row)`}: ${problemText(reason)}`;
      return next === model ? `${why}; asked again at ${until}` : `${why}; ${next} is asked next`;
    }
    case 'step.model_used': {
      const { model, usage } = event.data;
      return `${call} asked ${model}: ${usage.input_tokens + usage.output_tokens} tokens`;
    }
    case 'graph.progress':
      return `${call}: ${event.data.files} of ${event.data.total} files are in the code graph`;
    case 'workspace.progress':
      return `${counted(event.data.files, 'file')}, ${counted(event.data.bytes, 'byte')} so far`;
    case 'workspace.preparing':
      return `${event.data.number} of ${event.data.of}: ${codeText(event.data.command)}`;
    case 'workspace.prepared':
      return preparedText(event.data);
    case 'workspace.prepare_failed': {
      const { number, of, exit_code, duration_ms } = event.data;
      const how = exit_code === null ? 'was stopped' : `exit code ${exit_code}`;
      return `${number} of ${of}: ${how} after ${seconds(duration_ms)}`;
    }
    case 'workspace.leased':
      return `tree ${event.data.epoch}, by ${event.data.worker}`;
    case 'workspace.held':
      return `for ${event.data.task_id}`;
    case 'workspace.captured':
      return `${short(event.data.snapshot)}: ${event.data.files_changed} changed by ${event.data.task_id}`;
    case 'workspace.drifted':
      return `${short(event.data.snapshot)}: the files differ from the approved ones; nothing ran, and the call asks again`;
    case 'workspace.validating':
      return short(event.data.snapshot);
    case 'workspace.distrusted':
      return `${event.data.reason}: ${event.data.detail} The tree is rebuilt from the last snapshot.`;
    case 'workspace.restored':
      return `${short(event.data.snapshot)}: files restored`;
    case 'workspace.materialised':
      return materialisedText(event.data);
    case 'workspace.snapshotted':
      return `${short(event.data.snapshot)}: ${event.data.files_changed} changed after ${call}`;
    case 'workspace.publish_requested': {
      const { snapshot, branch, by } = event.data;
      return `${short(snapshot)}${branch === undefined ? '' : ` to branch ${branch}`} by ${by}`;
    }
    case 'workspace.validated':
      return `${short(event.data.snapshot)}: ${event.data.passed ? 'every validator passed' : 'a validator did not pass'}`;
    case 'workspace.publish_released':
      return event.data.resolutions === undefined ? '' : 'with a version of each file in conflict';
    case 'workspace.publish_rejected':
    case 'workspace.publish_failed':
      return problemText(event.data.reason);
    case 'workspace.published':
      return publishedText(event.data.published);
    case 'workspace.conflicted':
      return 'the source has changed since the run began; nothing was published';
    case 'workspace.discard_requested':
      return `by ${event.data.by}`;
    default:
      return event satisfies never;
  }
}

function materialisedText({
  files,
  bytes,
  base_commit,
  submodules = [],
  lfs_pointers,
}: Extract<RunEvent, { type: 'workspace.materialised' }>['data']): string {
  const commit = base_commit === null ? '' : ` of commit ${short(base_commit)}`;
  const named = submodules.slice(0, 3).map(({ path }) => nameText(path));
  const more = submodules.length > named.length ? `, and ${submodules.length - named.length} more` : '';
  const empty = named.length === 0 ? '' : `; without the files of its submodules (${named.join(', ')}${more})`;
  const pointers =
    lfs_pointers === undefined ? '' : `; ${counted(lfs_pointers.files, 'file')} under git-lfs without content`;
  return `${counted(files, 'file')}, ${counted(bytes, 'byte')}${commit}${empty}${pointers}`;
}

function preparedText({
  number,
  of,
  cached,
  duration_ms,
  files_changed,
  made_from,
}: Extract<RunEvent, { type: 'workspace.prepared' }>['data']): string {
  const changed = `${counted(files_changed, 'file')} changed`;
  if (cached) return `from ${madeFromText(made_from)}, in ${seconds(duration_ms)}: ${changed}`;
  return `${number} of ${of} in ${seconds(duration_ms)}: ${changed}`;
}

function madeFromText(from: PreparedFrom | undefined): string {
  if (from === undefined) return 'an earlier run';
  const { run_id, at, source, ref, commit, bound_to } = from;
  const place = source === null ? '' : ` of ${nameText(source)}`;
  const where = ref === null ? '' : ` at ${nameText(ref)}`;
  const which = commit === null ? '' : ` (${commit.slice(0, 12)})`;
  const bound = bound_to === 'inputs' ? ', bound to the inputs that the operator names' : '';
  return `${run_id}${place}${where}${which} on ${at.slice(0, 10)}${bound}`;
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

const blockageText = ({ approvals, paused, blocker }: AgentReport): string =>
  [
    ...(approvals > 0 ? [`${counted(approvals, 'approval')} open`] : []),
    ...(paused > 0
      ? [`${paused} paused${blocker === undefined ? '' : ` (${blocker.run_id} ${problemText(blocker.reason)})`}`]
      : []),
  ].join(', ');

function instructedText({ files, agents = [] }: Extract<RunEvent, { type: 'context.instructed' }>['data']): string {
  const named = [
    ...files.map(({ path }) => path),
    ...agents.map(({ file, error }) => (error === undefined ? file : `${file} (no kind of sub-agent: ${error})`)),
  ];
  return named.length === 0 ? 'the instructions of the model' : `with ${named.join(', ')}`;
}

const problemText = ({ code, message }: Problem): string => `${code}: ${message}`;
const took = (ms: number | undefined): string => (ms === undefined ? '' : `(${duration(ms)})`);
const short = (id: string): string => id.slice(0, 10);
const afterStep = (id: string | null): string => (id === null ? 'from its beginning' : `after ${id}`);

function publishedText(published: unknown): string {
  if (typeof published !== 'object' || published === null) return '';
  if ('branch' in published) return `branch ${String(published.branch)}`;
  return 'path' in published ? `directory ${String(published.path)}` : '';
}

function paintOf({ type }: RunEvent, colors: Colors): (text: string) => string {
  switch (type) {
    case 'run.succeeded':
    case 'step.succeeded':
    case 'workspace.published':
      return colors.green;
    case 'run.failed':
    case 'step.failed':
    case 'step.killed':
    case 'step.timed_out':
    case 'workspace.conflicted':
    case 'workspace.publish_failed':
      return colors.red;
    case 'run.waiting':
    case 'task.waiting':
    case 'run.paused':
    case 'run.canceling':
    case 'run.canceled':
    case 'run.rewound':
    case 'workspace.publish_rejected':
    case 'workspace.drifted':
    case 'workspace.prepare_failed':
    case 'approval.requested':
    case 'approval.expired':
    case 'step.rejected':
    case 'step.expired':
    case 'step.retried':
    case 'step.cancel_requested':
    case 'step.indeterminate':
      return colors.yellow;
    case 'step.created':
    case 'step.queued':
    case 'workspace.snapshotted':
    case 'network.counted':
    case 'workspace.progress':
    case 'graph.progress':
    case 'task.used':
    case 'task.reserved':
      return colors.dim;
    default:
      return colors.cyan;
  }
}

type Count = Extract<RunEvent, { type: 'network.counted' }>['data']['counts'][number];

const countText = ({ host, port, verdict, reason, connections }: Count): string =>
  `${connections} more to ${host === null ? 'other hosts' : `${host}:${port}`} ${verdict}${reason === undefined ? '' : ` (${reason})`}`;

/** Paths in one line. */
const maxPaths = 3;

function changedPaths(changed: { changes: { path: string; change: string }[]; total: number } | undefined): string {
  if (changed === undefined || changed.total === 0) return '';
  const paths = changed.changes.slice(0, maxPaths).map(({ path, change }) => `${change} ${nameText(path)}`);
  const more = changed.total - paths.length;
  return `; ${paths.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
