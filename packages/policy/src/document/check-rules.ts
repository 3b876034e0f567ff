import type { PolicyRule } from '@holdpoint/contract';
import { type CompiledRule, compileRule } from '../judge/compile-rule.ts';
import { type CatalogTool, checkCatalog } from './check-catalog.ts';
import { contradictions } from './contradictions.ts';
import type { PolicyProblem } from './problem.ts';
import { isWider } from './wider.ts';

/**
 * Finds rules without any possible match, and invalid rules. A rule without a match holds and denies nothing, contrary to its text.
 * @param tools the tools in reach of calls; absent: unknown here
 */
export function checkRules(rules: readonly PolicyRule[], tools?: readonly CatalogTool[]): PolicyProblem[] {
  return rules.flatMap((rule, index) => {
    const problems = [
      ...uncompilable(rule, index),
      ...contradictions(rule),
      ...(tools === undefined ? [] : checkCatalog(rule.match, tools)),
    ];
    const shadow =
      problems.length > 0 ? -1 : rules.findIndex((earlier, at) => at < index && isWider(earlier.match, rule.match));
    if (shadow !== -1) {
      const { name } = rules[shadow] ?? {};
      const other = `rule ${shadow + 1}${name === undefined ? '' : ` (${name})`}`;
      problems.push({
        pointer: '/match',
        detail: `${other} before it matches all that this rule matches, so this rule never decides. Move it up, or leave it out.`,
      });
    }
    return problems.map(({ pointer, detail }) => ({ pointer: `/rules/${index}${pointer}`, detail }));
  });
}

function uncompilable(rule: PolicyRule, index: number): PolicyProblem[] {
  const { match } = rule;
  const found: PolicyProblem[] = [];
  const attempt = (pointer: string, part: PolicyRule['match'], what: string): void => {
    const problem = compileProblem({ ...rule, match: part }, index);
    if (problem !== undefined) found.push({ pointer: `/match/${pointer}`, detail: `${what} ${problem}` });
  };
  const each = (
    pointer: string,
    given: string | readonly string[] | undefined,
    what: string,
    toMatch: (text: string) => PolicyRule['match'],
  ) => {
    if (typeof given === 'string') attempt(pointer, toMatch(given), `${what} ${JSON.stringify(given)}`);
    else {
      given?.forEach((text, at) => {
        attempt(`${pointer}/${at}`, toMatch(text), `${what} ${JSON.stringify(text)}`);
      });
    }
  };
  const { paths, command, args = {}, labels = {} } = match;
  each('toolset', match.toolset, 'the glob', (toolset) => ({ toolset }));
  each('tool', match.tool, 'the glob', (tool) => ({ tool }));
  each('submitted_by/name', match.submitted_by?.name, 'the glob', (name) => ({ submitted_by: { name } }));
  each('hosts', match.hosts, 'the host', (host) => ({ hosts: [host] }));
  if (paths !== undefined) {
    const [pointer, globs] = 'globs' in paths ? ['paths/globs', paths.globs] : ['paths', paths];
    each(pointer, globs, 'the glob', (glob) => ({ paths: [glob] }));
  }
  each('command/program', command?.program, 'the glob', (program) => ({ command: { program } }));
  each('command/argv', command?.argv, 'the glob', (glob) => ({ command: { argv: [glob] } }));
  each('command/regex', command?.regex, 'the regular expression', (regex) => ({ command: { regex } }));
  for (const [key, wanted] of Object.entries(args)) {
    const pointer = `args/${escapeKey(key)}`;
    if (key !== '' && !key.startsWith('/')) {
      found.push({
        pointer: `/match/${pointer}`,
        detail: `${JSON.stringify(key)} is no JSON pointer: begin it with a slash, as in "/${key}"`,
      });
    } else attempt(pointer, { args: { [key]: wanted } }, 'the test');
  }
  for (const [label, glob] of Object.entries(labels))
    attempt(`labels/${escapeKey(label)}`, { labels: { [label]: glob } }, 'the glob');
  return found;
}

function compileProblem(rule: PolicyRule, index: number): string | undefined {
  try {
    compileRule(rule, index) satisfies CompiledRule;
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const escapeKey = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1');
