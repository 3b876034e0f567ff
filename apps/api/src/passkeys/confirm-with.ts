import { isDeepStrictEqual } from 'node:util';
import type { DecisionToConfirm, PasskeyAssertion } from '@holdpoint/contract';
import type { AssertionResponse } from '@holdpoint/contract/wire';
import { type Confirm, challengeOf, EngineError } from '@holdpoint/engine';
import type { ApiDeps } from '../deps.ts';
import { takeAssertion } from './take-assertion.ts';

/** Proves a decision with the assertion of its request. A second try of the same request, after a contended append, uses nothing up. */
export function confirmWith(deps: ApiDeps, response: AssertionResponse): Confirm {
  let taken: { decision: DecisionToConfirm; assertion: PasskeyAssertion } | undefined;
  return async (decision) => {
    taken ??= { decision, assertion: await take(deps, response, decision) };
    if (!isDeepStrictEqual(taken.decision, decision)) throw refused('what is decided has changed in the meantime');
    return taken.assertion;
  };
}

async function take(
  deps: ApiDeps,
  response: AssertionResponse,
  decision: DecisionToConfirm,
): Promise<PasskeyAssertion> {
  const challenge = (signed: Parameters<typeof challengeOf>[1]) => challengeOf(decision, signed);
  const taken = await takeAssertion(deps, response, { use: 'decision', challenge });
  if ('refused' in taken) throw refused(taken.refused);
  return taken;
}

const refused = (why: string): EngineError =>
  new EngineError('passkey_refused', `the passkey does not prove this decision: ${why}`);
