import { createHash } from 'node:crypto';
import { canonicalJson, type Policy, type PolicyRule, type Tenant } from '@holdpoint/contract';
import type { StepApproval } from '../../approvals/view-approval.ts';
import type { EngineDeps } from '../../deps.ts';
import { EngineError } from '../../domain/index.ts';
import { readSpec } from '../../log/index.ts';
import { getPolicy } from '../read-policies.ts';
import { type Proposals, proposeFromPast } from './propose-from-past.ts';

/** Rules for calls like one that a person decided, with the policy that would have them. */
interface Pattern {
  /** Undefined: the run has no policy with a name, or the policy was deleted. */
  policy: { name: string; version: number } | undefined;
  found: { proposal: Proposals['proposals'][number]; document: Policy; digest: string } | { whyNot: string };
}

/** The pattern of the call of an approval: the rules that `proposeFromPast` finds for it. Changes nothing. */
export async function findPattern(
  deps: Pick<EngineDeps, 'redis' | 'blobs' | 'catalog'>,
  view: StepApproval,
  period: { tenant: Tenant; since: string; least: number },
): Promise<Pattern> {
  const { policy, document: base } = await baseOf(deps, view, period.tenant);
  const { proposals } = await proposeFromPast(deps, period);
  const proposal = proposals.find(({ calls }) => calls.some(({ step_id }) => step_id === view.step.id));
  if (proposal === undefined) return { policy, found: { whyNot: nothingProposed } };
  const known = new Set(base.rules.map((rule) => canonicalJson(rule)));
  const rules = proposal.rules.filter((rule) => !known.has(canonicalJson(rule)));
  if (rules.length === 0) return { policy, found: { whyNot: 'the policy has these rules already' } };
  const document = { ...base, rules: [...rules, ...base.rules] };
  return { policy, found: { proposal: { ...proposal, rules }, document, digest: digestOf(rules, policy, document) } };
}

const nothingProposed =
  'no rule would let through this call and only what people always approved: too few were approved, or one was refused';

/** Everything that a confirmation puts in force. */
const digestOf = (rules: readonly PolicyRule[], policy: Pattern['policy'], document: Policy): string =>
  `sha256:${createHash('sha256')
    .update(canonicalJson([rules, policy ?? null, document]))
    .digest('hex')}`;

/** The newest version of the policy with a name that the run was accepted with; otherwise the run's own rules. */
async function baseOf(
  deps: Pick<EngineDeps, 'redis' | 'blobs'>,
  { run }: StepApproval,
  tenant: Tenant,
): Promise<{ policy: Pattern['policy']; document: Policy }> {
  const { policy: own, policy_pin: pin } = await readSpec(deps, run);
  if (pin === undefined) return { policy: undefined, document: own };
  try {
    const { name, version, document } = await getPolicy(deps, { tenant, name: pin.name });
    return { policy: { name, version }, document: document as Policy };
  } catch (error) {
    if (error instanceof EngineError && error.code === 'policy_not_found') return { policy: undefined, document: own };
    throw error;
  }
}
