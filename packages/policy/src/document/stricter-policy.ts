import type { Policy, PolicyRule } from '@holdpoint/contract';
import { listOf } from '../match/command.ts';
import { compileGlob } from '../match/glob.ts';
import { checkRules } from './check-rules.ts';

/** Tools to hold or deny in addition to a policy, by their names. */
export interface Stricter {
  hold: readonly string[];
  deny: readonly string[];
  /** All tools of the run. */
  tools: readonly string[];
}

/**
 * The policy with more held and denied: no call gets a milder verdict than before. The first matching rule decides, so an allow rule for a
 * held tool becomes a hold rule in the same place.
 */
export function stricterPolicy(policy: Policy, stricter: Stricter): Policy {
  const { deny, hold } = stricter;
  return {
    ...policy,
    rules: withoutIdle([
      ...(deny.length === 0 ? [] : [rule(deny, 'deny', 'denied with --deny')]),
      ...policy.rules.flatMap((rule) => withHolds(rule, stricter)),
      ...(hold.length === 0 ? [] : [rule(hold, 'hold', reason)]),
    ]),
  };
}

const reason = 'held with --hold';
const rule = (tool: readonly string[], action: 'hold' | 'deny', why: string): PolicyRule => ({
  match: { tool: [...tool] },
  action,
  reason: why,
});

function withHolds(given: PolicyRule, { hold, tools }: Stricter): PolicyRule[] {
  const { tool } = given.match;
  if (given.action !== 'allow') return [given];
  const globs = listOf(tool ?? '**').map((glob) => compileGlob(glob, false));
  const named = tools.filter((name) => globs.some((glob) => glob.test(name)));
  const held = named.filter((name) => hold.includes(name));
  if (held.length === 0) return [given];
  // A possible match is not allowed, so only a certain match is held in its place.
  const holding: PolicyRule = { ...rule(held, 'hold', reason), match: { ...given.match, tool: held }, surely: true };
  if (tool === undefined) return [holding, given];
  const rest = named.filter((name) => !held.includes(name));
  return rest.length === 0 ? [holding] : [holding, { ...given, match: { ...given.match, tool: rest } }];
}

/** The API refuses rules without effect, because an earlier rule matches all their calls. Such rules change nothing. */
function withoutIdle(rules: readonly PolicyRule[]): PolicyRule[] {
  const flagged = new Set(checkRules(rules).map(({ pointer }) => Number(pointer.split('/')[2])));
  // A rule with a mistake of its own stays, and is refused.
  return rules.filter((one, index) => !flagged.has(index) || checkRules([one]).length > 0);
}
