import type { OperatorPolicy, PolicyAction, RunSpec, Verdict } from '@holdpoint/contract';
import * as policyLanguage from '@holdpoint/policy';

/** The policies of a run. `operator`: the policies in force when the run was accepted, or an earlier run which the run continues. */
export type Bound = Pick<RunSpec, 'policy' | 'policy_pin' | 'operator' | 'operator_versions'>;

/** A policy of the operator. A policy from a file has no version. */
export interface OperatorInForce {
  document: OperatorPolicy;
  digest: string;
  version?: number | undefined;
}

const strictness: Record<PolicyAction, number> = { allow: 0, hold: 1, deny: 2 };

/** The stricter of two verdicts. The first verdict when both are equally strict. */
export const stricter = (one: Verdict, other: Verdict): Verdict =>
  strictness[other.action] > strictness[one.action] ? other : one;

/** Like `stricter`, for two verdicts on one call: where both hold, an approval must satisfy the terms of each. */
export function addUp(one: Verdict, other: Verdict): Verdict {
  if (one.action !== 'hold' || other.action !== 'hold') return stricter(one, other);
  const all = [...(one.deciders ?? []), ...(other.deciders ?? [])];
  const deciders = [...new Map(all.map((entry) => [JSON.stringify(entry), entry])).values()];
  return {
    ...one,
    deciders: deciders.length === 0 ? undefined : deciders,
    confirm: one.confirm ?? other.confirm,
    on_expiry: other.on_expiry === 'allow' ? one.on_expiry : undefined,
  };
}

/**
 * The strictest verdict on a call by the run's policy and the operator's policies, recorded and current: a later change of the operator's
 * policy never relaxes the recorded ones. Pure.
 */
export const judgeCall = (
  bound: Bound,
  current: OperatorInForce | undefined,
  facts: policyLanguage.CallFacts,
  toolset?: policyLanguage.ToolsetPolicy,
): Verdict => policyLanguage.judge({ ...policiesOf(bound, current), toolset }, facts);

/** Equal for the same policies: a recorded verdict with this name needs no second look. */
export const policiesInForce = (
  bound: Bound,
  current: OperatorInForce | undefined,
  toolset: policyLanguage.ToolsetPolicy | undefined,
): string => {
  const { run, operator } = policiesOf(bound, current);
  // A release may change the built-in rules and the rules of a toolset.
  return [
    run,
    ...operator,
    { policy: policyLanguage.compilePolicy(policyLanguage.builtinPolicy) },
    ...(toolset ? [toolset] : []),
  ]
    .map(({ policy }) => shortDigest(policy.digest))
    .join(' ');
};

/** 16 hex digits. */
export const shortDigest = (digest: string): string => digest.slice('sha256:'.length, 'sha256:'.length + 16);

export function policiesOf(
  bound: Bound,
  current: OperatorInForce | undefined,
): Pick<policyLanguage.BoundPolicies, 'run' | 'operator'> {
  const { policy, policy_pin: pin } = bound;
  return {
    run: { name: pin?.name ?? 'run', version: pin?.version, policy: policyLanguage.compilePolicy(policy) },
    operator: withCurrent(bound, current).map(({ document, version }) => ({
      ...{ name: 'operator', version, policy: policyLanguage.compilePolicy(document) },
    })),
  };
}

/** Whose policy holds a publish, and whether any of the policies asks for a passkey. */
export function holdsPublish(
  bound: Bound,
  current: OperatorInForce | undefined,
): { by: 'run' | 'operator'; confirm: 'passkey' | undefined } | undefined {
  const operator = withCurrent(bound, current).map(({ document }) => document.publish);
  const all = [...operator, bound.policy.publish];
  if (all.every((one) => one === 'allow')) return undefined;
  const by = operator.some((one) => one !== 'allow') ? 'operator' : 'run';
  return { by, confirm: all.includes('passkey') ? 'passkey' : undefined };
}

/** The recorded policies and the current policy, each once. */
export function withCurrent(
  { operator = [], operator_versions: versions = {} }: Omit<Bound, 'policy'>,
  current: OperatorInForce | undefined,
): OperatorInForce[] {
  const recorded = operator.map((document): OperatorInForce => {
    const { digest } = policyLanguage.compilePolicy(document);
    return { document, digest, version: versions[digest] };
  });
  const all = current === undefined ? recorded : [...recorded, current];
  return [...new Map(all.map((one) => [one.digest, one])).values()];
}

/** The operator's policies to record in a new run. @param before the run which the new run continues or works for */
export function boundBy(
  current: OperatorInForce | undefined,
  before: Omit<Bound, 'policy'> = {},
): Pick<Bound, 'operator' | 'operator_versions'> {
  const all = withCurrent(before, current);
  if (all.length === 0) return {};
  const versions = Object.fromEntries(
    all.flatMap(({ digest, version }) => (version === undefined ? [] : [[digest, version]])),
  );
  const hasVersions = Object.keys(versions).length > 0;
  return { operator: all.map(({ document }) => document), ...(hasVersions ? { operator_versions: versions } : {}) };
}
