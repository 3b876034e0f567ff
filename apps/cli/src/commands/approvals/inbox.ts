import { text as ask, cancel, isCancel, log, outro, select } from '@clack/prompts';
import type { Client } from '@holdpoint/client/client';
import { ApiError } from '@holdpoint/client/errors';
import type { Approval, Decide } from '@holdpoint/contract/wire';
import { CliError } from '../../errors.ts';
import { actionText, approvalText, isAboutPublish } from '../../output/approval-text.ts';
import { cut, oneLine, plain, plainJson } from '../../output/plain.ts';
import type { Shell } from '../../shell.ts';
import { jsonObject } from '../options.ts';
import { settleConflicts } from './settle-conflicts.ts';

type Decision = Decide['decision'];

/** Goes through what waits for a decision, one after the other, until nothing does or the person leaves. Needs a terminal. */
export async function inbox({ shell, client }: { shell: Shell; client: Client }): Promise<void> {
  for (;;) {
    const { data } = await client.listApprovals({ limit: 100 });
    if (data.length === 0) return outro('Nothing waits for a decision.');
    const id = await select({ message: `${data.length} waiting`, options: data.map(optionOf), maxItems: 12 });
    if (isCancel(id)) return cancel('Nothing more was decided.');
    const approval = await client.getApproval(id);
    const text = approvalText(approval, { colors: shell.colors, now: Date.now() });
    log.message(text.flatMap((line) => line.split('\n')));
    const goesOn = await decideOne({ shell, client }, approval).catch((error: unknown) => {
      // Another person was faster, or the call changed while this one was read: the list tells what is left.
      if (!(error instanceof ApiError) && !(error instanceof CliError)) throw error;
      log.error(plain(`${error.message}\n${error.next}`));
      return true;
    });
    if (!goesOn) return cancel('Nothing more was decided.');
  }
}

const optionOf = (approval: Approval) => ({
  value: approval.id,
  label: cut(actionText(approval), 70),
  hint: oneLine(`${approval.risk} risk, ${approval.run_title}`, 60),
});

/** @returns false when the person leaves */
async function decideOne({ shell, client }: { shell: Shell; client: Client }, approval: Approval): Promise<boolean> {
  const decision = await select<Decision | 'later'>({
    message: 'Your decision',
    // Nothing is let through by pressing Enter once too often.
    initialValue: 'later',
    options: [
      ...approval.allowed_decisions.map((value) => ({ value, label: value, hint: hintOf(value, approval.kind) })),
      { value: 'later', label: 'later', hint: 'back to the list' },
    ],
  });
  if (isCancel(decision)) return false;
  if (decision === 'later') return true;
  const words = await wordsFor(shell, decision, approval);
  if (words === undefined) return true;
  const decided = await client.decideApproval(approval.id, {
    decision,
    action_digest: approval.action_digest,
    ...words,
  });
  log.success(`${decided.id} is ${decided.status}`);
  return true;
}

/** @returns undefined when the person changes their mind */
async function wordsFor(
  shell: Shell,
  decision: Decision,
  approval: Approval,
): Promise<Pick<Decide, 'args' | 'message'> | undefined> {
  switch (decision) {
    case 'approve':
      return {};
    case 'reject': {
      const reader = isAboutPublish(approval) ? '' : ' The planner reads it.';
      const message = await ask({ message: `Why?${reader}`, placeholder: 'may be empty' });
      if (isCancel(message)) return undefined;
      return message ? { message } : {};
    }
    case 'respond': {
      const message = await ask({
        message: 'Your answer',
        validate: (value) => (value ? undefined : 'It needs some words.'),
      });
      return isCancel(message) ? undefined : { message };
    }
    case 'edit': {
      if (approval.kind === 'conflict') return settleConflicts(shell, approval);
      const given = await ask({
        message: 'All arguments, as JSON',
        initialValue: plainJson(approval.action.args),
      });
      return isCancel(given) ? undefined : { args: jsonObject(given) };
    }
    default:
      return decision satisfies never;
  }
}

function hintOf(decision: Decision, kind: Approval['kind']): string {
  return hints[kind][decision] ?? '';
}

const ofCall = {
  approve: 'run it as shown',
  edit: 'run it with other arguments',
  reject: 'do not run it',
  respond: 'answer instead',
};
const hints: Record<Approval['kind'], Partial<Record<Decision, string>>> = {
  action: ofCall,
  input: ofCall,
  in_doubt: { approve: 'run it again', reject: 'it did not take effect', respond: 'it did take effect' },
  publish: { approve: 'publish exactly this', reject: 'publish nothing' },
  conflict: {
    approve: 'try again with the source as it is by then',
    edit: 'say what becomes of each file',
    reject: 'publish nothing',
  },
};
