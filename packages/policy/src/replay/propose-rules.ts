import { maxRules, type PolicyMatch, type PolicyRule, policySchema } from '@holdpoint/contract';
import { checkRules } from '../document/check-rules.ts';
import { type CompiledPolicy, compilePolicy } from '../judge/compile-policy.ts';
import { type Part, partsOf, wordText } from '../judge/compile-rule.ts';
import { type BoundPolicies, judge } from '../judge/judge.ts';
import type { CallFacts } from '../match/call-facts.ts';
import { normalPath } from '../match/path-glob.ts';
import { isRefused } from './attention.ts';
import type { RecordedCall } from './recorded-call.ts';

export interface HeldPart {
  part: Part;
  /** Parts with the same key can share a rule: the same program and sub-command, or the same folder. */
  key: string;
}

/** The held parts of a call. */
export function heldParts(policies: BoundPolicies, facts: CallFacts): HeldPart[] {
  return partsOf(facts)
    .filter((part) => judge(policies, { ...facts, touches: onlyPart(part, facts) }).action === 'hold')
    .map((part) => ({
      part,
      key: JSON.stringify([facts.toolset, facts.tool, facts.effect, part.kind, ...keyOf(part, facts)]),
    }));
}

function onlyPart(part: Part, { touches }: CallFacts): CallFacts['touches'] {
  const none = { paths: [], commands: [], hosts: [] };
  switch (part.kind) {
    case 'call':
      return touches;
    case 'command':
      return { ...none, commands: part.command === 'unparsed' ? 'unparsed' : [part.command] };
    case 'path':
      return { ...none, paths: [part.touched] };
    case 'host':
      return { ...none, hosts: [part.text] };
    default:
      return part satisfies never;
  }
}

function keyOf(part: Part, { args }: CallFacts): unknown[] {
  switch (part.kind) {
    case 'call':
      return [args];
    case 'command':
      return part.command === 'unparsed'
        ? ['unparsed']
        : part.command.words.slice(0, subcommandEnd(part.command.words.map(wordText)));
    case 'path':
      return [part.touched.access, folderOf(part.touched.path)];
    case 'host':
      return [part.text];
    default:
      return part satisfies never;
  }
}

/** The program and its first word, except for an option or a path as the first word. */
const subcommandEnd = ([, first]: readonly string[]): number =>
  first !== undefined && /^[a-z][a-z0-9:_-]*$/.test(first) ? 2 : 1;

/** `''`: the workspace. */
function folderOf(path: string | readonly (string | null)[]): string {
  const text = normalPath(typeof path === 'string' ? path : wordText(path));
  return text.includes('/') ? text.slice(0, text.lastIndexOf('/')) : '';
}

/** The narrowest rule to allow parts with the same key; undefined when no rule can. */
function ruleFor(parts: readonly (HeldPart & { facts: CallFacts })[]): PolicyRule | undefined {
  const [first] = parts;
  if (first === undefined) return undefined;
  const { toolset, tool, effect } = first.facts;
  const match = matchFor(parts);
  if (match === undefined) return undefined;
  return { match: { toolset: escapeGlob(toolset), tool: escapeGlob(tool), effect, ...match }, action: 'allow' };
}

function matchFor(parts: readonly (HeldPart & { facts: CallFacts })[]): PolicyMatch | undefined {
  const [first] = parts;
  switch (first?.part.kind) {
    case 'call':
      return { args: { '': { equals: first.facts.args as null } } };
    case 'command':
      return argvFor(parts);
    case 'path': {
      const paths = parts.flatMap(({ part }) => (part.kind === 'path' ? [part.touched] : []));
      const texts = paths.map(({ path }) => (typeof path === 'string' ? normalPath(path) : undefined));
      const [text] = texts;
      const [{ access } = {}] = paths;
      if (text === undefined || access === undefined) return undefined;
      const isOne = texts.every((one) => one === text);
      const folder = folderOf(text);
      return {
        paths: { globs: [isOne ? escapeGlob(text) : `${folder === '' ? '' : `${escapeGlob(folder)}/`}*`], access },
      };
    }
    case 'host':
      return { hosts: [first.part.text] };
    default:
      return undefined;
  }
}

/** The same words where all commands have them, then any words. */
function argvFor(parts: readonly HeldPart[]): PolicyMatch | undefined {
  const commands = parts.map(({ part }) =>
    part.kind === 'command' && part.command !== 'unparsed' ? part.command : undefined,
  );
  const lines = commands.map((command) =>
    command?.words.map((word) => (word.includes(null) ? undefined : wordText(word))),
  );
  const [first] = lines;
  if (first === undefined || commands.some((command) => command === undefined || command.class === 'blocked'))
    return undefined;
  const isOne = lines.every((line) => line?.length === first.length && line.every((word, at) => word === first[at]));
  const fixed = isOne ? first : first.slice(0, subcommandEnd(first.map((word) => word ?? '')));
  const words = fixed.filter((word) => word !== undefined);
  if (words.length < fixed.length || words.length === 0) return undefined;
  return { command: { argv: [...words.map(escapeGlob), ...(isOne ? [] : ['**'])] } };
}

const escapeGlob = (text: string): string => text.replaceAll(/[\\*?[\]{}]/g, '\\$&');

/** Rules for calls approved by people every time. Never made without a person. */
export interface ProposedRules<Call extends RecordedCall = RecordedCall> {
  rules: PolicyRule[];
  /** How often people approved. */
  approved: number;
  /** The calls allowed by the rules. */
  calls: Call[];
  /** "approved 143 times, never refused; …" */
  summary: string;
}

interface Options<Call extends RecordedCall> {
  policiesOf: (call: Call) => BoundPolicies;
  /** Approvals required for a group. @default 3 */
  least?: number | undefined;
}

/**
 * Groups the held and approved calls by their held parts, and finds the narrowest rules for each group. A group is left out when its rules
 * would allow a refused or denied call. Yields undefined after a stretch of work, for a pause of the caller. Pure.
 */
export function* proposeRules<Call extends RecordedCall>(
  calls: readonly Call[],
  { policiesOf, least = 3 }: Options<Call>,
): Generator<ProposedRules<Call> | undefined, void> {
  const unwanted = calls.filter((call) => isRefused(call) || call.action === 'deny');
  const groups = new Map<string, Member<Call>[]>();
  let done = 0;
  for (const call of calls) {
    if (call.action !== 'hold' || call.decision?.kind !== 'approve') continue;
    const held = heldParts(policiesOf(call), call.facts);
    const key = [...new Set(held.map((part) => part.key))].sort().join('\n');
    groups.set(key, [...(groups.get(key) ?? []), { call, held }]);
    if (++done % stretch === 0) yield undefined;
  }
  for (const [key, members] of groups) {
    if (key !== '' && members.length >= least) yield* propose(members, unwanted, { policiesOf, least });
  }
}

interface Member<Call> {
  call: Call;
  held: readonly HeldPart[];
}

/** Calls judged without a pause: some milliseconds. */
const stretch = 50;

function* propose<Call extends RecordedCall>(
  members: readonly Member<Call>[],
  unwanted: readonly Call[],
  { policiesOf, least }: Required<Options<Call>>,
): Generator<ProposedRules<Call> | undefined, void> {
  const byKey = Map.groupBy(
    members.flatMap(({ call, held }) => held.map((part) => ({ ...part, facts: call.facts }))),
    ({ key }) => key,
  );
  const rules = [...byKey.values()].flatMap((parts) => ruleFor(parts) ?? []);
  if (rules.length < byKey.size || checkRules(rules).length > 0) return;
  const before = addRules(rules);
  const passes = (call: Call) => judge(before(policiesOf(call)), call.facts).action === 'allow';
  for (const [at, call] of unwanted.entries()) {
    if (passes(call)) return;
    if (at % stretch === stretch - 1) yield undefined;
  }
  const calls: Call[] = [];
  for (const [at, { call }] of members.entries()) {
    if (passes(call)) calls.push(call);
    if (at % stretch === stretch - 1) yield undefined;
  }
  if (calls.length < least) return;
  const these = rules.length === 1 ? 'this rule' : 'these rules';
  const summary = `approved ${calls.length} times, never refused; ${these} would have let these calls through`;
  yield { rules, approved: calls.length, calls, summary };
}

/** Adds rules before the rules of a run. Compiles once per policy. */
function addRules(rules: readonly PolicyRule[]): (policies: BoundPolicies) => BoundPolicies {
  const known = new Map<string, CompiledPolicy>();
  return ({ run, ...others }) => {
    const policy = known.get(run.policy.digest) ?? compilePolicy(before(rules, run.policy));
    known.set(run.policy.digest, policy);
    return { ...others, run: { ...run, policy } };
  };
}

const before = (rules: readonly PolicyRule[], policy: CompiledPolicy) =>
  policySchema.parse({ rules: [...rules, ...policy.rules.map(({ rule }) => rule)].slice(0, maxRules) });
