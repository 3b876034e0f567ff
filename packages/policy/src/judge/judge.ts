import type { PolicyAction, PolicyRule, Verdict } from '@holdpoint/contract';
import type { CallFacts } from '../match/call-facts.ts';
import { listOf } from '../match/command.ts';
import { type RegexBudget, regexBudget } from '../match/regex.ts';
import { and, type Truth } from '../match/truth.ts';
import { builtinPolicy } from './builtin.ts';
import { type CompiledPolicy, compilePolicy, type ToolsetPolicy, toolsetPrefix } from './compile-policy.ts';
import { type CompiledRule, type Condition, describePart, type Part, partsOf } from './compile-rule.ts';

/** A policy under its name in verdicts: `run`, `operator`, or the name of a document. */
export interface NamedPolicy {
  name: string;
  version?: number | undefined;
  policy: CompiledPolicy;
}

/** The binding policies of a run. */
export interface BoundPolicies {
  /** The run's own. The built-in rules judge the calls without a match in the run's policy, and their denials bind the run's policy too. */
  run: NamedPolicy;
  /**
   * The operator's, recorded and current. They only make a verdict stricter: calls without a match are left to the others. Calls allowed by
   * all of them are left to the run's own policy, even where the built-in rules deny the call.
   */
  operator: readonly NamedPolicy[];
  /** The policy of the toolset. This policy only makes a verdict stricter, too. */
  toolset?: ToolsetPolicy | undefined;
}

/** A rule and the matched part of the call. */
interface Decided {
  from: NamedPolicy;
  rule: CompiledRule;
  part: Part;
}

export const strictness: Record<PolicyAction, number> = { allow: 0, hold: 1, deny: 2 };

/**
 * The verdict on a call: for each part the first matching rule of a policy decides, and the strictest decision over all parts and policies
 * is the verdict. Simultaneous hold rules add up: an approval must satisfy each of them. Pure.
 */
export function judge({ run, operator, toolset }: BoundPolicies, facts: CallFacts): Verdict {
  const budget = { left: regexBudget };
  const parts = partsOf(facts);
  const own = decide(run, facts, parts, budget);
  const byOperator = operator.map((policy) => decide(policy, facts, parts, budget).found);
  const ofOperator = byOperator.flat();
  const isAllowed = (part: Part): boolean =>
    byOperator.length > 0 &&
    byOperator.every((found) => found.some((one) => one.part === part && one.rule.rule.action === 'allow'));
  const ofToolset = toolset === undefined ? [] : decide(toolset, facts, parts, budget).found;
  const isAuto = (part: Part): boolean =>
    ofToolset.some(
      ({ rule: { index, rule }, ...one }) =>
        one.part === part && rule.action === 'allow' && toolset !== undefined && index >= toolset.autoFrom,
    );
  const byBuiltin = decide(builtin(), facts, parts, budget).found.filter(({ part, rule: { rule } }) =>
    rule.action === 'deny'
      ? own.left.includes(part) || !isAllowed(part)
      : own.left.includes(part) && !(rule.action === 'hold' && isAuto(part)),
  );
  const isNamed = ({ part }: Decided) =>
    [...own.found, ...ofOperator].some((one) => one.part === part && namesTool(one.rule, facts));
  const [questions, rules] = partition(
    ofToolset,
    ({ rule }) => toolset !== undefined && rule.index >= toolset.asksFrom && rule.index < toolset.autoFrom,
  );
  const decided = rules.concat(
    own.found,
    byBuiltin,
    ofOperator,
    questions.filter((one) => !isNamed(one)),
  );
  const strictest = Math.max(...decided.map(({ rule }) => strictness[rule.rule.action]));
  const deciding = decided.filter(({ rule }) => strictness[rule.rule.action] === strictest);
  const [first] = deciding;
  if (first === undefined) throw new Error('the built-in rules match every call');
  return toVerdict(first, deciding);
}

/** Whether a rule names the tool of a call. A pattern with an accidental match does not count. */
export const namesTool = ({ rule }: CompiledRule, { tool }: CallFacts): boolean =>
  listOf(rule.match.tool ?? []).includes(tool);

function partition<Item>(items: readonly Item[], isFirst: (item: Item) => boolean): [Item[], Item[]] {
  const first = items.filter(isFirst);
  return [first, items.filter((item) => !first.includes(item))];
}

/** The built-in rules as a policy. */
export const builtin = (): NamedPolicy => ({ name: 'builtin', policy: compilePolicy(builtinPolicy) });

/** The first matching rule of each part, and the parts without a matching rule. */
export function decide(from: NamedPolicy, facts: CallFacts, parts: readonly Part[], budget: RegexBudget) {
  const found: Decided[] = [];
  let left = parts;
  const [anyPart = { kind: 'call' } as const] = parts;
  for (const rule of from.policy.rulesFor(facts)) {
    if (left.length === 0) break;
    const ofCall = testAll(rule.ofCall, facts, anyPart, budget);
    if (!applies(rule, ofCall)) continue;
    const unmatched: Part[] = [];
    for (const part of left) {
      const isOther =
        part.kind === 'command' && part.program !== undefined && rule.programs?.has(part.program) === false;
      const matched: Truth = isOther ? 'no' : and(ofCall, testAll(rule.ofPart, facts, part, budget));
      if (applies(rule, matched)) found.push({ from, rule, part });
      else unmatched.push(part);
    }
    left = unmatched;
  }
  return { found, left };
}

function testAll(conditions: readonly Condition[], facts: CallFacts, part: Part, budget: RegexBudget): Truth {
  let found: Truth = 'yes';
  for (const { test } of conditions) {
    found = and(found, test(facts, part, budget));
    if (found === 'no') return found;
  }
  return found;
}

/** A possible match is held or denied, unless the rule asks for certain matches, and never allowed. */
export const applies = ({ rule }: CompiledRule, matched: Truth): boolean =>
  matched === 'yes' || (matched === 'maybe' && rule.action !== 'allow' && rule.surely === undefined);

function toVerdict({ from, rule: { rule, index }, part }: Decided, deciding: readonly Decided[]): Verdict {
  const { action, name, reason } = rule;
  return {
    action,
    reason: reason ?? `rule ${index + 1}${name === undefined ? '' : ` (${name})`} of ${ownerOf(from.name)}: ${action}`,
    rule: { policy: from.name, version: from.version, digest: from.policy.digest, index, name },
    part: part.kind === 'call' ? undefined : describePart(part),
    ...(action === 'hold' ? mergeTerms(deciding.map((one) => one.rule.rule)) : {}),
  };
}

function ownerOf(policy: string): string {
  switch (policy) {
    case 'run':
      return "the run's policy";
    case 'operator':
      return "the operator's policy";
    case 'builtin':
      return 'the built-in rules';
    default:
      return policy.startsWith(toolsetPrefix)
        ? `the toolset ${policy.slice(toolsetPrefix.length)}`
        : `the policy ${policy}`;
  }
}

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

type Terms = Pick<
  Verdict,
  'decisions' | 'deciders' | 'expires_s' | 'on_expiry' | 'preview' | 'confirm' | 'remind_after_s' | 'escalate'
>;

/** The terms of an approval for every rule: each rule must permit the decider, and nothing runs on expiry unless all agree. */
function mergeTerms(rules: readonly PolicyRule[]): Terms {
  const offered = rules.flatMap(({ decisions }) => (decisions === undefined ? [] : [decisions]));
  const [first, ...others] = offered;
  const deciders = rules.flatMap((rule) => (rule.deciders === undefined ? [] : [rule.deciders]));
  const escalations = rules.flatMap(({ escalate }) => escalate ?? []);
  return {
    decisions: first && [
      ...new Set([...first.filter((one) => others.every((each) => each.includes(one))), 'reject' as const]),
    ],
    deciders:
      deciders.length === 0 ? undefined : [...new Map(deciders.map((one) => [JSON.stringify(one), one])).values()],
    expires_s: least(rules.map(({ expires_s }) => expires_s)),
    on_expiry: rules.every(({ on_expiry }) => on_expiry === 'allow') ? 'allow' : undefined,
    preview: rules.some(({ preview }) => preview === 'run') ? 'run' : undefined,
    confirm: rules.some(({ confirm }) => confirm === 'passkey') ? 'passkey' : undefined,
    remind_after_s: least(rules.map(({ remind_after_s }) => remind_after_s)),
    escalate: escalations.sort((a, b) => a.after_s - b.after_s)[0],
  };
}

function least(values: readonly (number | undefined)[]): number | undefined {
  const given = values.filter((value) => value !== undefined);
  return given.length === 0 ? undefined : Math.min(...given);
}
