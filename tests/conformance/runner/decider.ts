import type { Client } from '@holdpoint/client';
import type { Approval, Decide as Decision } from '@holdpoint/contract/wire';
import type { Case, Decision as Wanted } from './case.ts';
import type { Decide } from './open-run.ts';

export interface Decider {
  /** Approves everything. */
  approve: Decide;
  /** As the case decides; a repeated question after an edit is approved. */
  decide: Decide;
  /** The requested actions. */
  asked: readonly Approval[];
}

/** The person of a case: decides about its calls, and answers questions with `setup.answers` in their order. */
export function openDecider(client: Client, { setup, call }: Pick<Case, 'setup' | 'call'>): Decider {
  const asked: Approval[] = [];
  const answers = [...setup.answers];
  let decision: Wanted | undefined = call.decision;

  const decideBy = async (approval: Approval, wanted: Wanted | undefined): Promise<void> => {
    if (approval.kind === 'input') return answer(approval);
    asked.push(approval);
    await client.decideApproval(approval.id, { ...(await seen(client, approval)), ...verdict(wanted) });
  };
  const answer = async ({ id, action_digest }: Approval): Promise<void> => {
    const message = answers.shift();
    const decided = message === undefined ? ('reject' as const) : ('respond' as const);
    await client.decideApproval(id, { decision: decided, action_digest, message });
  };
  return {
    asked,
    approve: (approval) => decideBy(approval, undefined),
    decide: async (approval) => {
      const wanted = decision;
      // A second question about edited arguments is a new question.
      if (approval.kind !== 'input' && wanted?.modifiedArgs !== undefined) decision = undefined;
      await decideBy(approval, wanted);
    },
  };
}

function verdict(
  { approved, modifiedArgs }: Wanted = { approved: true },
): Pick<Decision, 'decision' | 'args' | 'on_invalid'> {
  if (!approved) return { decision: 'reject' };
  return modifiedArgs === undefined
    ? { decision: 'approve' }
    : { decision: 'edit', args: modifiedArgs, on_invalid: 'reject' };
}

/** The evidence of a whole read. */
async function seen(
  client: Client,
  { id, action_digest, cut }: Approval,
): Promise<Pick<Decision, 'action_digest' | 'content_digest'>> {
  if (cut === null) return { action_digest };
  const { content_digest } = await client.getApprovalContent(id);
  return { action_digest, content_digest };
}
