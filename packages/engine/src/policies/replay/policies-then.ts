import { operatorPolicySchema, type RunSpec } from '@holdpoint/contract';
import { type BoundPolicies, builtinPolicy, compilePolicy, type NamedPolicy } from '@holdpoint/policy';
import { toolsetPolicyOf } from '../../approvals/judge-described.ts';
import type { EngineDeps } from '../../deps.ts';
import { policiesOf, shortDigest } from '../../domain/index.ts';
import { operatorDocumentsKey } from '../policy-keys.ts';

/**
 * The policies that a recorded verdict was made by. Each that was ever in force is kept under its digest.
 * @param policies as `step.created` names them; absent in older logs: those that the run recorded
 * @returns `isComplete` false when a digest belongs to no known policy
 */
export async function policiesThen(
  { redis, catalog }: Pick<EngineDeps, 'redis' | 'catalog'>,
  spec: RunSpec,
  policies: string | undefined,
): Promise<BoundPolicies & { isComplete: boolean }> {
  const recorded = policiesOf(spec, undefined);
  if (policies === undefined) return { ...recorded, isComplete: false };
  const [own = '', ...others] = policies.split(' ');
  // The last one is of the built-in rules. Logs from before they were named have no such word.
  const builtinNow = shortDigest(compilePolicy(builtinPolicy).digest);
  const ofToolset = toolsetPolicyOf(catalog, spec);
  const toolsetNow = ofToolset && shortDigest(ofToolset.policy.digest);
  const digests = others.filter((digest) => digest !== builtinNow && digest !== toolsetNow);
  // A call of a time when the toolset had no rules was judged without them.
  const toolset = toolsetNow !== undefined && others.includes(toolsetNow) ? ofToolset : undefined;
  const known = new Map<string, NamedPolicy>(recorded.operator.map((one) => [shortDigest(one.policy.digest), one]));
  const missing = digests.filter((digest) => !known.has(digest));
  const texts = missing.length === 0 ? [] : await redis.hmget(operatorDocumentsKey, ...missing);
  for (const [at, text] of texts.entries()) {
    if (text === null) continue;
    const policy = compilePolicy(operatorPolicySchema.parse(JSON.parse(text)));
    known.set(missing[at] ?? '', { name: 'operator', policy });
  }
  const operator = digests.map((digest) => known.get(digest)).filter((one) => one !== undefined);
  const isComplete = operator.length === digests.length && own === shortDigest(recorded.run.policy.digest);
  return { run: recorded.run, operator, toolset, isComplete };
}
