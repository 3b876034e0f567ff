import type { RememberedRule } from '@holdpoint/contract';
import type { EngineDeps } from '../deps.ts';
import { callDigest, coveringDigests, type Decider, decidesAlone, EngineError, type Panel } from '../domain/index.ts';
import { toPayload } from '../log/index.ts';
import { advisoryOf } from './advisory-arguments.ts';
import type { DecisionRequest, Remember } from './confirm-decision.ts';
import { rulesFor } from './manage-rules.ts';
import type { StepApproval } from './view-approval.ts';

const day = 24 * 3600;
export const defaultRuleSeconds = 30 * day;
export const longestRuleSeconds = 365 * day;

/**
 * The rule that a decision would make. The rule covers exactly this call but for its advisory arguments, even when the files behind the call
 * change later.
 */
export function proposedRule({ catalog }: Pick<EngineDeps, 'catalog'>, view: StepApproval) {
  const call = callOf(view);
  const leaves_out = advisoryOf(catalog, call);
  return { ...call, leaves_out, call_digest: callDigest(call, leaves_out) };
}

/** The rules in force about the call of an approval. */
export const rulesAbout = (deps: Pick<EngineDeps, 'redis' | 'catalog' | 'now'>, view: StepApproval) =>
  rulesFor(deps, view.run, coveringDigests(callOf(view), advisoryOf(deps.catalog, callOf(view))));

const callOf = ({ run, step, args, effect, approval }: StepApproval) => ({
  toolset: run.header.toolset,
  tool: step.call.tool,
  ...{ args, effect, reaches: approval.request.reaches },
});

/** Why an approval cannot make a rule; undefined when it can. */
export function whyNotRemembered({ approval, step }: StepApproval): string | undefined {
  const { kind, rule } = approval.request;
  if (kind !== 'action' || step.call.gate !== undefined) return 'only a decision on a call can be remembered';
  return rule === undefined ? 'the tool asks because of what the workspace holds, which can change' : undefined;
}

interface Asked {
  panel: Panel;
  caller: Decider;
  request: Pick<DecisionRequest, 'decision' | 'message'>;
  remember: Remember;
}

/** @throws EngineError `invalid_decision` */
export async function newRule(
  deps: Pick<EngineDeps, 'blobs' | 'catalog' | 'newId' | 'now'>,
  view: StepApproval,
  { panel, caller, request, remember }: Asked,
): Promise<RememberedRule> {
  const { scope, expires_s: seconds = defaultRuleSeconds, external } = remember;
  const isRejected = request.decision === 'reject';
  const reason = whyNotRemembered(view);
  if (reason !== undefined) throw new EngineError('invalid_decision', reason);
  if (!isRejected && view.approval.request.confirm === 'passkey') {
    throw new EngineError('invalid_decision', 'each such call needs a passkey, and a remembered rule has none');
  }
  if (!isRejected && !decidesAlone(panel, caller)) {
    const message = 'a call on which several callers decide cannot be remembered by one of them';
    throw new EngineError('invalid_decision', message);
  }
  if (seconds < 1 || seconds > longestRuleSeconds) {
    throw new EngineError(
      'invalid_decision',
      `expires_s is ${seconds}: a remembered rule lives for 1 to ${longestRuleSeconds} seconds (a year)`,
    );
  }
  const { args, leaves_out, ...call } = proposedRule(deps, view);
  if (!isRejected && call.effect === 'external' && external !== true) {
    const message =
      'the call has effects outside the workspace, and such a call is remembered only with external: true';
    throw new EngineError('invalid_decision', message);
  }
  return {
    ...call,
    ...{ rule_id: deps.newId('rule'), scope, by: caller.name, kind: caller.kind },
    ...(isRejected && { decision: 'reject', message: request.message }),
    args: await toPayload(deps.blobs, args),
    leaves_out: leaves_out.length === 0 ? undefined : leaves_out,
    expires_at: new Date(deps.now() + seconds * 1000).toISOString(),
  };
}
