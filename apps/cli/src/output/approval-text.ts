import { type Approval, type PublishPlan, publishPlanSchema } from '@holdpoint/contract/wire';
import { codeText, nameText, oneLine, plain } from '@holdpoint/readable';
import { z } from 'zod';
import { type Colors, commandLine } from '../shell/index.ts';
import { argsInWords, shortArgs } from './call-text.ts';
import { changesText, deciderText, ruleText } from './decider-text.ts';
import { patchLines } from './diff-text.ts';
import { fit, pairs, table } from './layout.ts';
import { publishPlanText } from './publish-text.ts';
import { ago, until } from './units.ts';
import { changedText, mayWriteText, repositoriesText, unknownText, unreadText } from './unknown-text.ts';

/** @param width columns of the terminal, if any */
export function approvalTable(approvals: readonly Approval[], now: number, width?: number): string[] {
  const rows = approvals.map((approval) => [
    approval.id,
    approval.status,
    approval.risk,
    ago(approval.requested_at, now),
    approval.status === 'pending' ? until(approval.expires_at, now) : '',
    actionText(approval),
    oneLine(approval.run_title),
  ]);
  const head = [{ id: 'APPROVAL' }, 'STATUS', 'RISK', 'ASKED', 'EXPIRES', { text: 'ACTION' }, { text: 'RUN' }];
  return table(head, rows, width);
}

export const actionText = ({ action }: Approval): string => `${nameText(action.tool)} ${shortArgs(action.args)}`.trim();

/** Everything for a person's decision: the exact call and its effect. */
export function approvalText(approval: Approval, { colors, now }: { colors: Colors; now: number }): string[] {
  const { action, decision } = approval;
  return [
    ...pairs({
      approval: approval.id,
      run: `${approval.run_id} (${oneLine(approval.run_title)})`,
      status: approval.status,
      asks: kindText(approval.kind),
      action: `${nameText(action.toolset)}/${nameText(action.tool)} (${action.effect}, ${approval.risk} risk)`,
      why: oneLine(approval.reason),
      arguments: codeText(JSON.stringify(action.args, null, 2) ?? ''),
      cut: cutText(approval),
      beware: approval.readable.hidden
        ? 'it contains characters that are invisible or imitate others, shown here as <U+200B>'
        : undefined,
      network: approval.reaches?.map(nameText).join(', '),
      rule: ruleText(approval),
      'who decides': deciderText(approval),
      passkey: passkeyText(approval),
      digest: approval.action_digest,
      decisions: approval.status === 'pending' ? approval.allowed_decisions.join(', ') : undefined,
      asked: `${approval.requested_at} (${ago(approval.requested_at, now)})`,
      expires:
        approval.status === 'pending'
          ? `${approval.expires_at} (${until(approval.expires_at, now)})${approval.on_expiry === 'allow' ? '; then it runs' : ''}`
          : undefined,
      decided:
        decision &&
        plain(
          `${decision.decision} by ${decision.by} at ${decision.decided_at}${decision.message ? `: ${decision.message}` : ''}`,
        ),
      'edited to': decision && decision.args !== null ? plain(JSON.stringify(decision.args, null, 2)) : undefined,
      'not run': supersededText(approval),
      replaces: approval.replaces ?? undefined,
      result: previewRequestText(approval),
    }),
    ...section(approval.decision?.changes.length ? ['asked (-) and ran (+):', ...changesText(approval)] : []),
    ...effectLines(approval, { colors, now }),
  ];
}

/** A terminal has no passkeys. */
function passkeyText({ confirm, status, decision, id }: Approval): string | undefined {
  if (decision?.confirmed) return 'proved the decision; the proof is in the audit log';
  if (confirm !== 'passkey' || status !== 'pending') return undefined;
  return `needed for all but a rejection, in the console: ${commandLine('open', id)}`;
}

function supersededText({ status, superseded_by: id }: Approval): string | undefined {
  if (id === null) return undefined;
  return status === 'canceled'
    ? `${id} shows the result of the call: decide on it`
    : `the files changed after the decision (action_changed): ${id} asks again`;
}

function previewRequestText({ status, preview_request }: Approval): string | undefined {
  if (preview_request === null || status !== 'pending') return undefined;
  const { problem, by } = preview_request;
  return problem === null ? `is being made for ${by}` : plain(`none to show: ${problem.message}`);
}

const otherPolicy =
  'this run is a fork with another policy than the run that it continues: rules of that one may not hold here';

/** Further facts about a call for a person's decision. */
function effectLines(approval: Approval, { colors, now }: { colors: Colors; now: number }): string[] {
  return [
    ...section(approval.display === null ? [] : approval.display.split('\n').map((line) => `| ${plain(line)}`)),
    ...section(approval.other_policy ? [colors.yellow(otherPolicy)] : []),
    ...section(changedText(approval, colors)),
    ...section(mayWriteText(approval, { colors, now })),
    ...section(unreadText(approval, colors)),
    ...section(unknownText(approval.unknown, colors)),
    ...section(repositoriesText(approval, colors)),
    ...(isAboutPublish(approval) ? planLines(approval, colors) : previewLines(approval.preview, colors)),
  ];
}

/** The approval in short, for the follower of a run: the call and its effect, without the additions of `approvals show`. */
export function briefApproval(approval: Approval, { colors, now }: { colors: Colors; now: number }): string[] {
  const { action, preview, reaches, readable } = approval;
  const shown = z.looseObject({ kind: z.string() }).safeParse(preview).data?.kind ?? '';
  // The question says all.
  if (approval.kind === 'input' && shown === 'question') return effectLines(approval, { colors, now }).slice(1);
  const isShown = shown === 'diff' || shown === 'command' || shown === 'question' || shown === 'plan';
  return [
    `${colors.yellow('?')} ${colors.bold(fit(`${nameText(action.tool)} ${codeText(argsInWords(action.args).words).replace(/\s+/g, ' ')}`.trim(), 110))}`,
    ...pairs({
      why: `${oneLine(approval.reason)} (${approval.risk} risk)`,
      beware: readable.hidden
        ? colors.yellow('it contains characters that are invisible or imitate others, shown here as <U+200B>')
        : undefined,
      cut: cutText(approval),
      network: reaches?.map(nameText).join(', '),
      arguments: isShown || isAboutPublish(approval) ? undefined : codeText(JSON.stringify(action.args, null, 2) ?? ''),
      passkey: passkeyText(approval),
      expires: `${until(approval.expires_at, now)}${approval.on_expiry === 'allow' ? '; then it runs' : ''}`,
      digest: approval.action_digest.slice(0, 19),
    }).map((line) => `  ${line}`),
    ...effectLines(approval, { colors, now }),
  ];
}

function cutText({ cut, id }: Approval): string | undefined {
  if (cut === null) return undefined;
  const parts = [
    cut.args === undefined ? [] : [`the arguments have ${cut.args} bytes`],
    cut.preview === undefined ? [] : [`the preview has ${cut.preview} bytes`],
  ].flat();
  return `${parts.join(', ')}; only the beginning is shown: ${commandLine('approvals', 'content', id)}`;
}

const section = (lines: string[]): string[] => (lines.length === 0 ? [] : ['', ...lines]);

export const isAboutPublish = ({ kind }: Pick<Approval, 'kind'>): boolean => kind === 'publish' || kind === 'conflict';

/** The plan of the publish; undefined for other approvals. */
export const planOf = ({ preview }: Pick<Approval, 'preview'>): PublishPlan | undefined =>
  publishPlanSchema.safeParse(preview).data;

function planLines(approval: Approval, colors: Colors): string[] {
  const plan = planOf(approval);
  if (plan === undefined) return previewLines(approval.preview, colors);
  return ['', 'It would publish', ...publishPlanText(plan, colors, { hunksFollow: approval.status === 'pending' })];
}

function kindText(kind: Approval['kind']): string {
  switch (kind) {
    case 'action':
      return 'whether this call may run';
    case 'input':
      return 'an answer (decide with respond)';
    case 'indeterminate':
      return 'what became of this call: its worker was lost. approve runs it again; reject: it did not happen; respond: it did';
    case 'publish':
      return 'whether this may be published';
    case 'conflict':
      return 'what each file that also changed at the source becomes. edit chooses, by lines or per file; approve tries again with the current source';
    default:
      return kind satisfies never;
  }
}

const previewSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('diff'), path: z.string(), patch: z.string() }),
  z.object({
    kind: z.literal('command'),
    command: z.string(),
    cwd: z.string(),
    network: z.array(z.string()),
    background: z.literal(true).optional(),
  }),
  z.object({
    ...{ kind: z.literal('merge'), task_id: z.string(), run_id: z.string(), snapshot: z.string() },
    changes: z.array(z.object({ path: z.string(), change: z.string() })),
    ...{ total: z.int(), patch: z.string(), cut: z.boolean() },
  }),
  z.object({
    ...{ kind: z.literal('result'), snapshot: z.string(), status: z.string(), value: z.json() },
    error: z.object({ code: z.string(), message: z.string() }).optional(),
    changes: z.array(z.object({ path: z.string(), change: z.string() })),
    patch: z.string(),
  }),
  z.object({ kind: z.literal('question'), question: z.string(), options: z.array(z.string()) }),
  z.object({ kind: z.literal('plan'), title: z.string(), text: z.string(), todos: z.array(z.string()) }),
  z.object({ kind: z.literal('problem'), message: z.string() }),
]);

/** The output of a command; any other result as JSON. */
function outputText(value: unknown): string {
  const printed = z.looseObject({ stdout: z.string(), stderr: z.string() }).safeParse(value).data;
  if (printed === undefined) return JSON.stringify(value, null, 2);
  return [printed.stdout, printed.stderr].filter((text) => text !== '').join('\n');
}

const reach = (hosts: readonly string[]): string =>
  hosts.length === 0 ? 'without network' : `and may reach ${hosts.map(nameText).join(', ')}`;

/** Each tool has its own preview; a preview of an unknown kind is shown as JSON. */
function previewLines(preview: Approval['preview'], colors: Colors): string[] {
  if (preview === null) return [];
  const known = previewSchema.safeParse(preview).data;
  if (known === undefined) return ['', 'preview', plain(JSON.stringify(preview, null, 2))];
  switch (known.kind) {
    case 'diff':
      return ['', `It would change ${nameText(known.path)}:`, ...patchLines(known.patch, colors)];
    case 'command':
      return [
        '',
        `It would run ${known.background ? 'in the background, beside later calls, which may change the files while it runs, ' : ''}in ${nameText(known.cwd)}, ${reach(known.network)}:`,
        ...codeText(known.command)
          .split('\n')
          .map((line) => `  ${colors.bold(line)}`),
      ];
    case 'merge':
      return [
        '',
        `It would merge what the sub-agent ${known.task_id} changed (snapshot ${known.snapshot} of ${known.run_id}):`,
        ...known.changes.map(({ path, change }) => `  ${change.padEnd(8)}  ${nameText(path)}`),
        ...(known.total > known.changes.length ? [`  and ${known.total - known.changes.length} more`] : []),
        ...patchLines(known.patch, colors),
        ...(known.cut ? [`for the rest: ${commandLine('runs', 'diff', known.run_id)}`] : []),
      ];
    case 'result': {
      const { status, error, value, changes, patch } = known;
      return [
        '',
        `It ran on a copy of the workspace, without a network. Approving applies exactly this, and nothing runs again:`,
        error === undefined ? status : colors.yellow(plain(`${status}: ${error.code}: ${error.message}`)),
        ...codeText(outputText(value))
          .split('\n')
          .map((line) => `  ${line}`),
        changes.length === 0 ? 'It changed no file.' : 'It changed:',
        ...changes.map(({ path, change }) => `  ${change.padEnd(8)}  ${nameText(path)}`),
        ...patchLines(patch, colors),
      ];
    }
    case 'question':
      return ['', ...plain(known.question).split('\n'), ...known.options.map((option) => `  - ${oneLine(option)}`)];
    case 'plan':
      return [
        '',
        colors.bold(oneLine(known.title)),
        ...plain(known.text).split('\n'),
        '',
        ...known.todos.map((todo) => `  [ ] ${oneLine(todo)}`),
      ];
    case 'problem':
      return ['', colors.yellow(`It would fail: ${plain(known.message)}`)];
    default:
      return known satisfies never;
  }
}
