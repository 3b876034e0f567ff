import type { PolicyRule } from '@holdpoint/contract';
import type { CallFacts } from '../match/call-facts.ts';
import { regexBudget } from '../match/regex.ts';
import { type CompiledPolicy, compilePolicy } from './compile-policy.ts';
import { decide } from './judge.ts';
import { partsOf } from './parts.ts';

type Caution = Pick<PolicyRule, 'name' | 'match' | 'surely'> & { reason: string };

const known = new WeakMap<readonly Caution[], CompiledPolicy>();

/**
 * The reason of the first caution with a certain or possible match in the call. The list is compiled once and must not change afterwards.
 */
export function findCaution(cautions: readonly Caution[], facts: CallFacts): string | undefined {
  if (cautions.length === 0) return undefined;
  const policy = known.get(cautions) ?? compilePolicy({ rules: cautions.map((one) => ({ ...one, action: 'hold' })) });
  known.set(cautions, policy);
  const { found } = decide({ name: 'cautions', policy }, facts, partsOf(facts), { left: regexBudget });
  const [first] = found.toSorted((one, other) => one.rule.index - other.rule.index);
  return first?.rule.rule.reason;
}
