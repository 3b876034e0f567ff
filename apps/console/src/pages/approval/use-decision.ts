import type { Approval, AssertionResponse, Decide } from '@holdpoint/contract/wire';
import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { decide, readApproval } from '../../api/approvals.ts';
import { challengeOf } from '../../api/passkeys.ts';
import { isProblem, NoAnswer } from '../../api/request.ts';
import { signWithPasskey } from '../../platform/passkey.ts';

type Sent =
  | { is: 'open' }
  | { is: 'sending' }
  /** No answer came: the decision may count. */
  | { is: 'unknown' }
  | { is: 'refused'; error: unknown }
  /** Another decision was first, or the call is another by now. */
  | { is: 'overtaken'; now: Approval; error: unknown }
  | { is: 'done'; now: Approval };

export interface Decision {
  sent: Sent;
  send(body: Omit<Decide, 'action_digest'>): Promise<void>;
  /** After a lost answer: reads whether the decision counts. */
  look(): Promise<void>;
}

/**
 * One decision of an open dialog, on exactly the approval shown there. Enter, a double click and a second try send nothing while an
 * answer is awaited, and the API answers the same decision again as the first time.
 */
export function useDecision(shown: Approval): Decision {
  const queries = useQueryClient();
  const [sent, setSent] = useState<Sent>({ is: 'open' });
  const isBusy = useRef(false);
  const unanswered = useRef<Unanswered>(undefined);

  const once = async (work: () => Promise<Sent>): Promise<void> => {
    if (isBusy.current) return;
    isBusy.current = true;
    setSent({ is: 'sending' });
    try {
      setSent(await work());
    } catch (error) {
      setSent(error instanceof NoAnswer ? { is: 'unknown' } : await refused(shown.id, error));
    } finally {
      isBusy.current = false;
      void queries.invalidateQueries({ queryKey: ['approvals'] });
    }
  };
  return {
    sent,
    send: (body) =>
      once(async () => {
        const decision = { ...body, action_digest: shown.action_digest };
        const keep = (sent: Unanswered | undefined) => {
          unanswered.current = sent;
        };
        return { is: 'done', now: await decideWithProof(shown, decision, { before: unanswered.current, keep }) };
      }),
    look: () =>
      once(async () => {
        const now = await readApproval(shown.id);
        return now.status === 'pending' ? { is: 'open' } : { is: 'done', now };
      }),
  };
}

/** The approval, or another that has taken its place. */
async function readNewest(id: string): Promise<Approval> {
  const now = await readApproval(id);
  return now.superseded_by === null ? now : readApproval(now.superseded_by);
}

async function refused(id: string, error: unknown): Promise<Sent> {
  if (!isProblem(error, 'already_decided', 'action_changed')) return { is: 'refused', error };
  const now = await readNewest(id).catch(() => undefined);
  return now === undefined ? { is: 'refused', error } : { is: 'overtaken', now, error };
}

/** The last decision sent without an answer: sent once more, the decision counts once. */
interface Unanswered {
  body: string;
  assertion: AssertionResponse;
}

/**
 * Sends a decision, with the signature of a passkey where the approval or the API asks: an edit can need a passkey although the call
 * itself needs none.
 * @throws ApiProblem, NoAnswer, PasskeyRefused
 */
async function decideWithProof(
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
