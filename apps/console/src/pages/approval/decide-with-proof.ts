import type { Approval, AssertionResponse, Decide } from '@holdpoint/contract/wire';
import { decide } from '../../api/approvals.ts';
import { challengeOf } from '../../api/passkeys.ts';
import { isProblem, NoAnswer } from '../../api/problem.ts';
import { signWithPasskey } from '../../platform/passkey.ts';

/** The last decision sent without an answer: sent once more, the decision counts once. */
export interface Unanswered {
  body: string;
  assertion: AssertionResponse;
}

/**
 * Sends a decision, with the signature of a passkey where the approval or the API asks: an edit can need a passkey although the call
 * itself needs none.
 * @throws ApiProblem, NoAnswer, PasskeyRefused
 */
export async function decideWithProof(
  { id, confirm }: Approval,
  body: Decide,
  { before, keep }: { before: Unanswered | undefined; keep: (unanswered: Unanswered | undefined) => void },
): Promise<Approval> {
  const sign = async () => signWithPasskey(await challengeOf(id, body));
  const send = async (assertion: AssertionResponse): Promise<Approval> => {
    keep({ body: JSON.stringify(body), assertion });
    const decided = await decide(id, { ...body, assertion });
    keep(undefined);
    return decided;
  };
  if (before?.body === JSON.stringify(body)) {
    return send(before.assertion).catch(async (error: unknown) => {
      if (!isProblem(error, 'passkey_refused')) throw error;
      return send(await sign());
    });
  }
  if (confirm === 'passkey' && body.decision !== 'reject') return send(await sign());
  try {
    return await decide(id, body);
  } catch (error) {
    if (error instanceof NoAnswer || !isProblem(error, 'passkey_required')) throw error;
    return send(await sign());
  }
}
