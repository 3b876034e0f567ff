import { placeOf, sourceFoldersOf } from '@holdpoint/contract';
import type { Run, RunDetail, WaitingFor } from '@holdpoint/contract/wire';
import { codeText, nameText, oneLine, plain } from '@holdpoint/readable';
import { shortId } from '../naming/ids.ts';
import type { Colors } from '../shell/index.ts';
import { pairs, table } from './layout.ts';
import { ago, counted, duration } from './units.ts';

interface TableOptions {
  colors: Colors;
  now: number;
  /** Columns of the terminal, if any. */
  width?: number | undefined;
}

export function runTable(runs: readonly Run[], { colors, now, width }: TableOptions): string[] {
  const rows = runs.map((run) => [
    run.id,
    statusText(run, colors),
    ago(run.created_at, now),
    run.publication.status === 'none' ? '' : run.publication.status,
    `${agentMark(run, width)}${oneLine(run.title)}`,
  ]);
  return table([{ id: 'RUN' }, 'STATUS', 'CREATED', 'CHANGES', { text: 'TITLE' }], rows, width);
}

/** The title of a sub-agent begins with its parent run. */
const agentMark = ({ parent }: Run, width: number | undefined): string =>
  parent === null ? '' : `↳ of ${width === undefined ? parent.run_id : shortId(parent.run_id)}: `;

/** Why a run stands in line. */
export const placeText = ({ ahead, in_progress, of }: NonNullable<RunDetail['waits_for']>): string => {
  if (of === 0) return 'a place among the runs in progress: no worker runs';
  const before = ahead === 0 ? 'it is the next one' : `${counted(ahead, 'run')} before it`;
  return `a place among the runs in progress: ${in_progress} of ${of} are taken, ${before}`;
};

function waitsFor({ waiting_for, waits_for, model_wait }: RunDetail): string | undefined {
  if (waits_for !== undefined) return placeText(waits_for);
  if (model_wait !== null) return plain(modelWaitText(model_wait));
  return waiting_for.length === 0 ? undefined : waiting_for.map(waitingText).join('\n');
}

const modelWaitText = ({ model, next, since, until, reason }: NonNullable<RunDetail['model_wait']>): string =>
  `${next}, since ${since}; asked again at ${until}\n${model}: ${reason.message}`;

export function runText(run: RunDetail, { colors, now }: { colors: Colors; now: number }): string[] {
  const { source } = run.request;
  const ended =
    run.ended_at === null || run.started_at === null
      ? undefined
      : Date.parse(run.ended_at) - Date.parse(run.started_at);
  return pairs({
    run: run.id,
    title: oneLine(run.title),
    status: statusText(run, colors),
    reason:
      run.reason && plain(`${run.reason.code}: ${run.reason.message}${run.reason.next ? `\n${run.reason.next}` : ''}`),
    'waits for': waitsFor(run),
    message: run.message && plain(run.message),
    planner: { model: `model ${nameText(run.model ?? '')}`, scripted: 'scripted plan', open: 'calls from outside' }[
      run.planner
    ],
    prompt: run.request.prompt && plain(run.request.prompt),
    toolset: nameText(run.toolset),
    settings: Object.entries(run.request.settings)
      .map(([name, value]) => codeText(`${name}=${JSON.stringify(value)}`))
      .join('\n'),
    source:
      source.type === 'empty'
        ? 'empty'
        : `${source.type} ${nameText(placeOf(source))}${source.type === 'git' && source.ref ? ` at ${nameText(source.ref)}` : ''}`,
    only: source.type === 'empty' ? undefined : selectionText(source),
    with: sourceFoldersOf(source).map(nameText).join(', '),
    forked:
      run.forked_from &&
      `from ${run.forked_from.run_id}, ${run.forked_from.step_id === null ? 'from its beginning' : `after ${run.forked_from.step_id}`}`,
    operator: run.request.operator_policies.map(({ digest }) => `policy ${digest.slice(0, 19)}`).join(', '),
    permissions: run.request.permissions && (run.request.permissions.map((one) => nameText(one)).join('\n') || 'none'),
    protected: run.request.protected.map((one) => nameText(one)).join('\n'),
    modes: Object.entries(run.request.modes)
      .flatMap(([name, isOn]) => (isOn ? [name] : []))
      .join(', '),
    validators: plain(run.request.validators.map(({ command }) => command).join('\n')),
    turn: String(run.turn),
    approvals: run.pending_approvals === 0 ? undefined : `${run.pending_approvals} pending`,
    used: usageText(run.usage),
    context: contextText(run.context),
    instructions: run.instructions
      .map(
        ({ path, bytes, cut }) => `${nameText(path)}${cut === undefined ? '' : ` (without ${cut} of ${bytes} bytes)`}`,
      )
      .join(', '),
    snapshot: run.workspace.snapshot,
    absent: absentText(run.workspace.absent),
    changes: publicationText(run.publication),
    labels: Object.entries(run.labels)
      .map(([name, value]) => plain(`${name}=${value}`))
      .join(' '),
    created: `${run.created_at} (${ago(run.created_at, now)})`,
    took: ended === undefined ? undefined : duration(ended),
  });
}

function absentText(absent: Run['workspace']['absent']): string | undefined {
  if (absent === null) return undefined;
  const { submodules, lfs_pointers } = absent;
  const named = submodules.slice(0, 3).map((path) => nameText(path));
  const more = submodules.length > named.length ? ` and more` : '';
  return [
    named.length === 0 ? '' : `the files of submodules (${named.join(', ')}${more})`,
    lfs_pointers === undefined ? '' : `the content of ${counted(lfs_pointers.files, 'file')} under git-lfs`,
  ]
    .filter((part) => part !== '')
    .join(', ');
}

/** A waiting sub-agent, and the reason of its wait. */
export function waitingText({ run_id, title, status, reason, approvals }: WaitingFor): string {
  const why = reason === null ? `${counted(approvals, 'approval')} open` : `${reason.code}: ${reason.message}`;
  return oneLine(`${run_id} (${title}) ${status}: ${why}`, 200);
}

function usageText({ agents, ...own }: Run['usage']): string {
  const text = (of: Omit<Run['usage'], 'agents' | 'active_ms'>): string =>
    [
      counted(of.steps, 'step'),
      `${of.input_tokens + of.output_tokens} tokens${of.cached_input_tokens === 0 ? '' : ` (${of.cached_input_tokens} cached)`}`,
      ...(of.cost_usd === 0 ? [] : [`$${of.cost_usd.toFixed(4)}`]),
    ].join(', ');
  const all = text(own);
  return agents.count === 0 ? all : `${all} (of ${counted(agents.count, 'sub-agent')}: ${text(agents)})`;
}

function contextText(context: Run['context']): string | undefined {
  if (context === null || context.tokens === null) return undefined;
  const { tokens, window, compactions } = context;
  const of = window === null ? '' : ` of ${window}`;
  const times = compactions === 1 ? 'once' : `${compactions} times`;
  return `${tokens}${of} tokens${compactions === 0 ? '' : `, shortened ${times}`}`;
}

function statusText({ status }: Pick<Run, 'status'>, colors: Colors): string {
  switch (status) {
    case 'succeeded':
      return colors.green(status);
    case 'failed':
      return colors.red(status);
    case 'waiting':
    case 'paused':
    case 'canceling':
    case 'canceled':
      return colors.yellow(status);
    case 'queued':
    case 'running':
      return colors.cyan(status);
    default:
      return status satisfies never;
  }
}

function selectionText({
  include = [],
  exclude = [],
}: {
  include?: string[] | undefined;
  exclude?: string[] | undefined;
}) {
  const parts = [include.join(' '), exclude.map((glob) => `not ${glob}`).join(' ')];
  return plain(parts.filter((part) => part !== '').join(', '));
}

function publicationText({ status, published, conflicts, reason, approval_id }: Run['publication']): string {
  if (published !== null) return `${status}: ${publishedText(published)}`;
  return [
    status === 'none' ? 'not published' : status === 'parked' ? `waits for ${approval_id}` : status,
    ...(reason === null ? [] : [plain(`${reason.message}${reason.next ? `\n${reason.next}` : ''}`)]),
    ...conflicts.map(({ path, detail }) => `${nameText(path)}: ${oneLine(detail)}`),
  ].join('\n');
}

export function publishedText(published: NonNullable<Run['publication']['published']>): string {
  const left = published.left_out.reduce((sum, { files }) => sum + files, 0);
  if (published.type === 'directory') {
    const { files_written: written, files_deleted: deleted, path } = published;
    return `${nameText(path)} (${counted(written, 'file')} written, ${deleted} deleted${left === 0 ? '' : `, ${left} left out`})`;
  }
  const without = left === 0 ? '' : ` (${left} left out)`;
  const pull = published.pull_request === undefined ? '' : `pull request ${nameText(published.pull_request.url)}, `;
  return `${pull}branch ${nameText(branchName(published.branch))} at ${published.commit} in ${nameText(published.path)}${without}`;
}

export const branchName = (ref: string): string => ref.replace(/^refs\/heads\//, '');
