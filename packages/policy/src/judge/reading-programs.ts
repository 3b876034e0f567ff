import type { CallFacts, CommandFact } from '../match/call-facts.ts';
import { regexBudget } from '../match/regex.ts';
import { type Part, partsOf } from './compile-rule.ts';
import { type BoundPolicies, decide, type NamedPolicy } from './judge.ts';

/**
 * The programs of a call allowed because its commands only read: each of them only reads, and a rule about commands allowed each. Undefined
 * for any other call. Such a call can run in a place without other programs and without writes, so a mistake in the reading of its line has
 * no effect. Expects a call allowed by `judge`. Pure.
 */
export function readingPrograms({ run, operator, toolset }: BoundPolicies, facts: CallFacts): string[] | undefined {
  const { commands, hosts, paths } = facts.touches;
  if (commands === 'unparsed' || commands.length === 0 || !commands.every(({ reads }) => reads === true))
    return undefined;
  if (hosts.length > 0 || paths.some(({ access }) => access !== 'read')) return undefined;
  const parts = partsOf(facts);
  const byCommands = new Set(
    [run, ...operator, ...(toolset ? [toolset] : [])].flatMap((from) => allowed(from, facts, parts)),
  );
  const isJudged = parts.every((part) => part.kind !== 'command' || byCommands.has(part));
  return isJudged ? [...new Set(commands.flatMap(programsOf))] : undefined;
}

/** The commands allowed by a rule about commands. */
const allowed = (from: NamedPolicy, facts: CallFacts, parts: readonly Part[]): Part[] =>
  decide(from, facts, parts, { left: regexBudget }).found.flatMap(({ rule: { rule }, part }) =>
    rule.action === 'allow' && rule.match.command !== undefined ? [part] : [],
  );

function programsOf({ words: [first] }: CommandFact): string[] {
  const name = first?.join('').replace(/^.*\//s, '') ?? '';
  return name === '' ? [] : [name];
}
