import { type CallPart, type PolicyAction, resolvePointer, type Verdict } from '@holdpoint/contract';
import type { CallFacts } from '../match/call-facts.ts';
import { regexBudget } from '../match/regex.ts';
import { all, type Truth } from '../match/truth.ts';
import type { ToolsetPolicy } from './compile-policy.ts';
import { type CompiledRule, type Condition, describePart, type Part, partsOf } from './compile-rule.ts';
import { applies, type BoundPolicies, builtin, judge, type NamedPolicy, namesTool } from './judge.ts';

/** The relation of a rule to a part of the call. */
export interface RuleExplanation {
  index: number;
  name?: string | undefined;
  action: PolicyAction;
  /** `uncertain`: a possible match, too little to allow. `after`: an earlier rule has decided. */
  outcome: 'decides' | 'no_match' | 'uncertain' | 'after';
  /** The fields without a match, or without a certain match. */
  because: { pointer: string; detail: string }[];
}

export interface PartExplanation {
  part: CallPart;
  /** In the order of judgement. Without a deciding rule, the policy is silent about this part. */
  policies: { name: string; version?: number | undefined; rules: RuleExplanation[] }[];
}

export interface Explanation {
  verdict: Verdict;
  parts: PartExplanation[];
}

/** The judgement of `judge`, with the reason for every rule and part. For people: includes rules skipped by `judge`. */
export function explain(policies: BoundPolicies, facts: CallFacts): Explanation {
  const parts = partsOf(facts).map((part): PartExplanation => {
    const own = explainPolicy(policies.run, facts, part);
    const byBuiltin = explainPolicy(builtin(), facts, part);
    const operator = policies.operator.map((policy) => explainPolicy(policy, facts, part));
    const isAllowed = operator.length > 0 && operator.every((one) => decidedAction(one) === 'allow');
    const isNamed = [policies.run, ...policies.operator].some((policy) => namedBy(policy, facts, part));
    const toolset = policies.toolset && explainToolset(policies.toolset, { facts, part, isNamed });
    const isAuto = policies.toolset !== undefined && isLet(policies.toolset, toolset);
    const counts =
      decidedAction(byBuiltin) === 'deny'
        ? decidedAction(own) === undefined || !isAllowed
        : decidedAction(own) === undefined && !(decidedAction(byBuiltin) === 'hold' && isAuto);
    const builtins = counts ? [byBuiltin] : [];
    return { part: describePart(part), policies: [own, ...builtins, ...operator, ...(toolset ? [toolset] : [])] };
  });
  return { verdict: judge(policies, facts), parts };
}

/** Whether the toolset lets the part run without a question. */
const isLet = ({ autoFrom }: ToolsetPolicy, explained: { rules: RuleExplanation[] } | undefined): boolean =>
  explained?.rules.some(
    ({ index, action, outcome }) => index >= autoFrom && action === 'allow' && outcome === 'decides',
  ) === true;

const decidedAction = ({ rules }: { rules: RuleExplanation[] }): PolicyAction | undefined =>
  rules.find(({ outcome }) => outcome === 'decides')?.action;

/** Whether the deciding rule of a policy for a part names the tool. */
function namedBy({ policy }: NamedPolicy, facts: CallFacts, part: Part): boolean {
  const deciding = policy.rules.find((rule) => applies(rule, explainRule(rule, facts, part).matched));
  return deciding !== undefined && namesTool(deciding, facts);
}

/** The question is dropped when a rule naming the tool decides. */
function explainToolset(
  policy: ToolsetPolicy,
  { facts, part, isNamed }: { facts: CallFacts; part: Part; isNamed: boolean },
): PartExplanation['policies'][number] {
  const explained = explainPolicy(policy, facts, part);
  const rules = explained.rules.map((rule): RuleExplanation => {
    if (!isNamed || rule.index < policy.asksFrom || rule.index >= policy.autoFrom || rule.outcome !== 'decides')
      return rule;
    const detail = 'a rule of the run or the operator names the tool, and decides in its place';
    return { ...rule, outcome: 'no_match', because: [{ pointer: '/match/tool', detail }] };
  });
  return { ...explained, rules };
}

function explainPolicy({ name, version, policy }: NamedPolicy, facts: CallFacts, part: Part) {
  let isDecided = false;
  const rules = policy.rules.map((compiled): RuleExplanation => {
    const { index, rule } = compiled;
    const of = { index, name: rule.name, action: rule.action };
    if (isDecided) return { ...of, outcome: 'after', because: [] };
    const { matched, because } = explainRule(compiled, facts, part);
    if (matched === 'no') return { ...of, outcome: 'no_match', because };
    isDecided = applies(compiled, matched);
    return { ...of, outcome: isDecided ? 'decides' : 'uncertain', because };
  });
  return { name, version, rules };
}

function explainRule(compiled: CompiledRule, facts: CallFacts, part: Part) {
  const budget = { left: regexBudget };
  const tested = [...compiled.ofCall, ...compiled.ofPart].map((condition) => ({
    condition,
    truth: condition.test(facts, part, budget),
  }));
  const matched = all(tested, ({ truth }) => truth);
  const because = tested
    .filter(({ truth }) => truth !== 'yes' && (matched !== 'no' || truth === 'no'))
    .map(({ condition: { pointer }, truth }) => ({ pointer, detail: describe(pointer, compiled, truth, facts, part) }));
  return { matched, because };
}

function describe(
  pointer: Condition['pointer'],
  { rule }: CompiledRule,
  truth: Truth,
  facts: CallFacts,
  part: Part,
): string {
  if (pointer === '/match') return 'a rule for paths or commands alone allows nothing outside of the workspace';
  const wanted = JSON.stringify(resolvePointer(rule, pointer));
  const found = foundValue(pointer, facts, part);
  if (truth === 'maybe') return `it may be ${wanted}: ${found}`;
  return `it is not ${wanted}: ${found}`;
}

function foundValue(pointer: string, facts: CallFacts, part: Part): string {
  const [, , field = '', ...rest] = pointer.split('/');
  switch (field) {
    case 'toolset':
    case 'tool':
    case 'effect':
    case 'risk':
      return facts[field];
    case 'args': {
      const value = resolvePointer(facts.args, unescapeKey(rest[0] ?? ''));
      return value === undefined ? 'there is no such argument' : JSON.stringify(value).slice(0, 300);
    }
    case 'labels': {
      const label = unescapeKey(rest[0] ?? '');
      return Object.hasOwn(facts.labels, label) ? (facts.labels[label] ?? '') : 'the run has no such label';
    }
    case 'submitted_by':
      return facts.submitted_by === undefined ? 'not known' : `${facts.submitted_by.name} (${facts.submitted_by.kind})`;
    default: {
      const { kind, detail } = describePart(part);
      const commandClass =
        part.kind === 'command' && part.command !== 'unparsed' ? `, class ${part.command.class}` : '';
      return `the part is the ${kind} ${detail}${commandClass}`;
    }
  }
}

const unescapeKey = (key: string): string => key.replaceAll('~1', '/').replaceAll('~0', '~');
