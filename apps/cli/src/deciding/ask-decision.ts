import { text as ask, isCancel, log, type SelectOptions, select } from '@clack/prompts';
import { ApiError, type Client, ConnectionError } from '@holdpoint/client';
import type { Approval, Decide } from '@holdpoint/contract/wire';
import { z } from 'zod';
import { approvalText, isAboutPublish, oneLine, plain } from '../output/index.ts';
import { CliError, type Shell } from '../shell/index.ts';
import { askResolutions } from './ask-resolutions.ts';
import { hunksText } from './conflicts.ts';
import { editArgs } from './edit-text.ts';
import { openContent } from './open-content.ts';

type Decision = Decide['decision'];

/** `left`: the person pressed Ctrl-C. `gone`: another decision ended the question. */
export type Answer = 'decided' | 'later' | 'left' | 'gone';

interface Deps {
  shell: Shell;
  client: Client;
}

interface Asking {
  /** Ends the question, for example because another caller decided. */
  signal?: AbortSignal | undefined;
  /** Set for an approval shown in short: the lines to show before the approval is granted, if any. */
  unseen?: readonly string[] | undefined;
  /** The person's text in the editor. */
  draft?: { text?: string };
}

/** Asks for the decision on a just shown approval, and makes the decision. Needs a terminal. */
export async function askDecision(deps: Deps, approval: Approval, asking: Asking = {}): Promise<Answer> {
  const draft = {};
  for (;;) {
    const answer = await decideOnce(deps, approval, { ...asking, draft }).catch((error: unknown) => {
      // Another caller was faster, the call changed in between, or the new arguments are not valid.
      if (!(error instanceof ApiError || error instanceof CliError || error instanceof ConnectionError)) throw error;
      const details =
        error instanceof ApiError ? error.errors.map(({ pointer, detail }) => `\n${pointer}: ${detail}`) : [];
      log.error(plain(`${error.message}${details.join('')}\n${error.next}`));
      return mayAskAgain(error) ? ('again' as const) : ('later' as const);
    });
    if (answer !== 'again') return asking.signal?.aborted ? 'gone' : answer;
  }
}

/** Wrong arguments change nothing: the approval is still open. A decision without an answer may be sent again. */
const mayAskAgain = (error: ApiError | CliError | ConnectionError): boolean =>
  error instanceof ConnectionError ||
  (error instanceof CliError ? error.code === 'usage' : error.status === 422 || error.status === 400);

async function decideOnce(deps: Deps, approval: Approval, asking: Asking): Promise<Answer | 'again'> {
  const { client } = deps;
  const choice = await select<Choice>({
    message: 'Your decision',
    // Pressing Enter once too often approves nothing.
    initialValue: 'later',
    options: choicesFor(approval, asking),
    signal: asking.signal,
  });
  if (isCancel(choice)) return 'left';
  if (choice === 'later') return choice;
  if (choice === 'details') {
    await showWhole(deps, approval);
    return decideOnce(deps, approval, { ...asking, unseen: undefined });
  }
  const decision = choice === 'always' ? 'approve' : choice === 'never' ? 'reject' : choice;
  const details = await askDetails(deps, decision, approval, asking);
  if (details === undefined) return asking.signal?.aborted ? 'gone' : 'again';
  const decided = await client.decideApproval(approval.id, {
    decision,
    action_digest: approval.action_digest,
    ...details,
    ...(choice === 'always' && { remember: 'run', remember_external: approval.remembers?.needs_external }),
    ...(choice === 'never' && { remember: 'run' }),
  });
  log.success(`${decided.id} is ${decided.status}`);
  return 'decided';
}

type Choice = Decision | 'always' | 'never' | 'details' | 'later';

function choicesFor(
  { allowed_decisions, kind, remembers, confirm }: Approval,
  { unseen }: Asking,
): SelectOptions<Choice>['options'] {
  const after: Partial<Record<Decision, SelectOptions<Choice>['options']>> =
    remembers === null ? {} : { approve: [alwaysOption], reject: [neverOption] };
  // A terminal has no passkeys: the approval is released in the console.
  const allowed = confirm === 'passkey' ? allowed_decisions.filter((one) => one === 'reject') : allowed_decisions;
  const decisions = order.filter((one) => allowed.includes(one));
  return [
    ...decisions.flatMap((value) => [
      { value, label: labels[value], hint: hints[kind][value] ?? '' },
      ...(after[value] ?? []),
    ]),
    ...(unseen === undefined ? [] : [{ value: 'details' as const, label: 'details', hint: 'show all of it' }]),
    { value: 'later', label: 'later', hint: 'leave it open' },
  ];
}

const order: readonly Decision[] = ['approve', 'edit', 'reject', 'respond'];
const labels: Record<Decision, string> = { approve: 'yes', edit: 'edit', reject: 'no', respond: 'answer' };

const alwaysOption = {
  value: 'always',
  label: 'yes, always',
  hint: 'in this run: each call with exactly these parameters, whatever its files are by then',
} as const;

const neverOption = {
  value: 'never',
  label: 'no, never',
  hint: 'in this run: each call with exactly these parameters is rejected without a question',
} as const;

export async function showWhole(deps: Deps, approval: Approval): Promise<void> {
  const brief = approvalText(approval, { colors: deps.shell.colors, now: Date.now() });
  const text = [...brief, ...(await hunksText(deps, approval))];
  log.message(text.flatMap((line) => line.split('\n')));
}

type Details = Pick<Decide, 'args' | 'message' | 'content_digest'>;

/** @returns undefined when the person goes back */
async function askDetails(
  { shell, client }: Deps,
  decision: Decision,
  approval: Approval,
  { signal, unseen, draft }: Asking,
): Promise<Details | undefined> {
  switch (decision) {
    case 'approve':
      if (approval.cut !== null) return { content_digest: await openContent({ shell, client }, approval) };
      if (unseen === undefined || unseen.length === 0 || (await hasReadThe(unseen, signal))) return {};
      return undefined;
    case 'reject': {
      const reader = isAboutPublish(approval) ? '' : ' The planner reads it.';
      const message = await ask({ message: `Why?${reader}`, placeholder: 'may be empty', signal });
      if (isCancel(message)) return undefined;
      return message ? { message } : {};
    }
    case 'respond': {
      const chosen = await chooseAnswer(approval, signal);
      if (chosen !== 'another') return chosen === undefined ? undefined : { message: chosen };
      const message = await ask({
        message: 'Your answer',
        validate: (value) => (value?.trim() ? undefined : 'An answer is needed.'),
        signal,
      });
      return isCancel(message) ? undefined : { message };
    }
    case 'edit': {
      if (approval.kind === 'conflict') return askResolutions({ shell, client }, approval);
      const args = await editArgs(shell, approval, draft);
      if (args === undefined) log.warn('The arguments are unchanged: nothing was decided.');
      return args && { args };
    }
    default:
      return decision satisfies never;
  }
}

/** @returns `another` when the question offers no answers, or none of them is meant; undefined when the person goes back */
async function chooseAnswer({ preview }: Approval, signal: AbortSignal | undefined): Promise<string | undefined> {
  const { options = [] } = questionSchema.safeParse(preview).data ?? {};
  if (options.length === 0) return 'another';
  const chosen = await select({
    message: 'Your answer',
    options: [
      ...options.map((value) => ({ value, label: oneLine(value, 100) })),
      { value: 'another', label: 'another answer' },
    ],
    signal,
  });
  return isCancel(chosen) ? undefined : chosen;
}

const questionSchema = z.looseObject({ kind: z.literal('question'), options: z.array(z.string()) });

/** Shows the left-out lines, and asks again. */
async function hasReadThe(unseen: readonly string[], signal: AbortSignal | undefined): Promise<boolean> {
  log.message([...unseen]);
  const sure = await select({
    message: 'Approve exactly this?',
    initialValue: false,
    options: [
      { value: true, label: 'yes' },
      { value: false, label: 'no' },
    ],
    signal,
  });
  return !isCancel(sure) && sure;
}

const ofCall = {
  approve: 'run it as shown',
  edit: 'run it with other arguments',
  reject: 'do not run it, and say why',
  respond: 'answer in its place',
};
const hints: Record<Approval['kind'], Partial<Record<Decision, string>>> = {
  action: ofCall,
  input: { ...ofCall, respond: 'write the answer' },
  indeterminate: { approve: 'run it again', reject: 'it did not take effect', respond: 'it did take effect' },
  publish: { approve: 'publish exactly this', reject: 'publish nothing' },
  conflict: {
    approve: 'try again with the current source',
    edit: 'choose for each file, by lines or as a whole',
    reject: 'publish nothing',
  },
};
