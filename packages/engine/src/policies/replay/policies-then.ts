import { operatorPolicySchema, type RunSpec } from '@holdpoint/contract';
import { type BoundPolicies, builtinPolicy, compilePolicy, type NamedPolicy } from '@holdpoint/policy';
import { toolsetPolicyOf } from '../../approvals/judge-described.ts';
import type { EngineDeps } from '../../deps.ts';
import { policiesOf, shortDigest } from '../../domain/index.ts';
import { operatorDocumentsKey } from '../read-policies.ts';

/**
 * The policies behind a recorded verdict. Redis keeps every policy that was ever in force under its digest.
 * @param policies the digests named by `step.created`; absent in older logs: the policies that the run recorded
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
  // The last digest belongs to the built-in rules. Older logs have no such digest.
  const builtinNow = shortDigest(compilePolicy(builtinPolicy).digest);
  const ofToolset = toolsetPolicyOf(catalog, spec);
  const toolsetNow = ofToolset && shortDigest(ofToolset.policy.digest);
  const digests = others.filter((digest) => digest !== builtinNow && digest !== toolsetNow);
  // A call from a time before the toolset had rules was judged without them.
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
