import { text as ask, cancel, isCancel, log, outro, select } from '@clack/prompts';
import { ApiError, type Client } from '@holdpoint/client';
import type { Approval, Decide } from '@holdpoint/contract/wire';
import { actionText, approvalText, cut, isAboutPublish, oneLine, plain, plainJson } from '../../output/index.ts';
import { CliError, jsonObject, type Shell } from '../../shell/index.ts';
import { openContent } from './open-content.ts';
import { askResolutions } from './resolutions.ts';

type Decision = Decide['decision'];

/** Lets the user decide open approvals until none is left or the user leaves. Needs a terminal. */
export async function inbox({ shell, client }: { shell: Shell; client: Client }): Promise<void> {
  for (;;) {
    const { data } = await client.listApprovals({ limit: 100 });
    if (data.length === 0) return outro('No open approvals.');
    const id = await select({ message: `${data.length} open`, options: data.map(optionOf), maxItems: 12 });
    if (isCancel(id)) return cancel('Nothing more was decided.');
    const decided = await show({ shell, client }, await client.getApproval(id));
    if (decided === 'left') return cancel('Nothing more was decided.');
  }
}

/** Shows one approval and asks for the decision. Needs a terminal. @returns whether it was decided */
export const decideOn = async (deps: { shell: Shell; client: Client }, approval: Approval): Promise<boolean> =>
  (await show(deps, approval)) === 'decided';

type Answer = 'decided' | 'later' | 'left';

async function show({ shell, client }: { shell: Shell; client: Client }, approval: Approval): Promise<Answer> {
  const text = approvalText(approval, { colors: shell.colors, now: Date.now() });
  log.message(text.flatMap((line) => line.split('\n')));
  return decideOne({ shell, client }, approval).catch((error: unknown) => {
    // Another user was faster, or the call changed in between: back to the list.
    if (!(error instanceof ApiError) && !(error instanceof CliError)) throw error;
    log.error(plain(`${error.message}\n${error.next}`));
    return 'later' as const;
  });
}

const optionOf = (approval: Approval) => ({
  value: approval.id,
  label: cut(actionText(approval), 70),
  hint: oneLine(`${approval.risk} risk, ${approval.run_title}`, 60),
});

async function decideOne({ shell, client }: { shell: Shell; client: Client }, approval: Approval): Promise<Answer> {
  const decision = await select<Decision | 'always' | 'later'>({
    message: 'Your decision',
    // Pressing Enter once too often approves nothing.
    initialValue: 'later',
    options: [
      ...approval.allowed_decisions.map((value) => ({ value, label: value, hint: hintOf(value, approval.kind) })),
      ...(approval.remembers === null ? [] : [alwaysOption]),
      { value: 'later', label: 'later', hint: 'back to the list' },
    ],
  });
  if (isCancel(decision)) return 'left';
  if (decision === 'later') return 'later';
  const kind = decision === 'always' ? 'approve' : decision;
  const details = await askDetails({ shell, client }, kind, approval);
  if (details === undefined) return 'later';
  const decided = await client.decideApproval(approval.id, {
    decision: kind,
    action_digest: approval.action_digest,
    ...details,
    ...(decision === 'always' ? rememberedBy(approval) : {}),
  });
  log.success(`${decided.id} is ${decided.status}`);
  return 'decided';
}

const alwaysOption = {
  value: 'always',
  label: 'always',
  hint: 'run it as shown, and each call of this run with exactly these parameters',
} as const;

const rememberedBy = ({ remembers }: Approval): Pick<Decide, 'remember' | 'remember_external'> => ({
  remember: 'run',
  remember_external: remembers?.needs_external,
});

/** @returns undefined when the user cancels */
async function askDetails(
  { shell, client }: { shell: Shell; client: Client },
  decision: Decision,
  approval: Approval,
): Promise<Pick<Decide, 'args' | 'message' | 'content_digest'> | undefined> {
  switch (decision) {
    case 'approve':
      return approval.cut === null ? {} : { content_digest: await openContent({ shell, client }, approval) };
    case 'reject': {
      const reader = isAboutPublish(approval) ? '' : ' The planner reads it.';
      const message = await ask({ message: `Why?${reader}`, placeholder: 'may be empty' });
      if (isCancel(message)) return undefined;
      return message ? { message } : {};
    }
    case 'respond': {
      const message = await ask({
        message: 'Your answer',
        validate: (value) => (value ? undefined : 'An answer is needed.'),
      });
      return isCancel(message) ? undefined : { message };
    }
    case 'edit': {
      if (approval.kind === 'conflict') return askResolutions(shell, approval);
      const given = await ask({ message: 'All arguments, as JSON', initialValue: plainJson(approval.action.args) });
      return isCancel(given) ? undefined : { args: jsonObject(given) };
    }
    default:
      return decision satisfies never;
  }
}

const hintOf = (decision: Decision, kind: Approval['kind']): string => hints[kind][decision] ?? '';

const ofCall = {
  approve: 'run it as shown',
  edit: 'run it with other arguments',
  reject: 'do not run it',
  respond: 'answer instead',
};
const hints: Record<Approval['kind'], Partial<Record<Decision, string>>> = {
  action: ofCall,
  input: ofCall,
  indeterminate: { approve: 'run it again', reject: 'it did not take effect', respond: 'it did take effect' },
  publish: { approve: 'publish exactly this', reject: 'publish nothing' },
  conflict: {
    approve: 'try again with the current source',
    edit: 'choose a version of each file',
    reject: 'publish nothing',
  },
};
