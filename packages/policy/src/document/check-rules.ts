import { canonicalJson, type PolicyMatch, type PolicyRule } from '@holdpoint/contract';
import { type CompiledRule, compileRule } from '../judge/compile-rule.ts';
import { listOf } from '../match/command.ts';
import { compileGlob } from '../match/glob.ts';
import { matchHost, parseHostPattern } from '../match/host-pattern.ts';
import { type CatalogTool, checkCatalog, type PolicyProblem } from './check-catalog.ts';

const onlyForHold = [
  ...(['decisions', 'deciders', 'expires_s', 'on_expiry', 'preview', 'confirm', 'remind_after_s', 'escalate'] as const),
];

/** Mutually exclusive fields of a rule. */
function contradictions({ match, action, ...terms }: PolicyRule): PolicyProblem[] {
  const { effect, paths, command, hosts } = match;
  const effects = effect === undefined ? undefined : listOf(effect);
  const found: PolicyProblem[] = [];
  const add = (pointer: string, detail: string) => found.push({ pointer, detail });
  const onlyReads = effects?.every((one) => one === 'read') === true;
  if (onlyReads && command !== undefined) {
    add(
      '/match/command',
      'no command has the effect read, so this rule never matches. Leave effect out, or name the class safe.',
    );
  }
  const accesses =
    paths !== undefined && 'globs' in paths && paths.access !== undefined ? listOf(paths.access) : undefined;
  if (onlyReads && accesses?.every((access) => access !== 'read')) {
    add(
      '/match/paths/access',
      'a call that writes or deletes does not have the effect read, so this rule never matches.',
    );
  }
  if (hosts !== undefined && paths !== undefined) {
    add(
      '/match/hosts',
      'a part of a call is a path or a host, so this rule never matches. Write one rule for paths and one for hosts.',
    );
  }
  if (hosts !== undefined && command !== undefined && action === 'allow') {
    add(
      '/match/hosts',
      'a command is never allowed by its hosts, so this rule never matches. Write one rule for the command and one for hosts.',
    );
  }
  if (command !== undefined && Object.keys(command).length === 0) {
    add('/match/command', 'names nothing: give class, program, argv or regex.');
  }
  if (match.submitted_by !== undefined && Object.keys(match.submitted_by).length === 0) {
    add('/match/submitted_by', 'names nothing: give name or kind.');
  }
  if (command?.class !== undefined && listOf(command.class).every((one) => one === 'unparsed')) {
    const { program, argv, regex } = command;
    if (action === 'allow') add('/match/command/class', 'what cannot be parsed is never allowed by its class.');
    if (program !== undefined || argv !== undefined || regex !== undefined) {
      add('/match/command', 'a command line that cannot be parsed has no words.');
    }
  }
  for (const field of onlyForHold) {
    if (terms[field] !== undefined && action !== 'hold') {
      add(`/${field}`, `says how a held call is decided, and this rule does not hold: its action is ${action}.`);
    }
  }
  if (terms.confirm === 'passkey' && terms.on_expiry === 'allow') {
    add('/on_expiry', 'lets the call run without a passkey, and confirm asks for one. Leave one of the two out.');
  }
  const { remind_after_s: remind, expires_s: expires, escalate } = terms;
  if (remind !== undefined && expires !== undefined && remind >= expires) {
    add('/remind_after_s', `the approval has expired by then: expires_s is ${expires}.`);
  }
  if (escalate !== undefined && expires !== undefined && escalate.after_s >= expires) {
    add('/escalate/after_s', `the approval has expired by then: expires_s is ${expires}.`);
  }
  return found;
}

/** Whether a match surely includes all calls of another match. False when the text does not prove the inclusion. */
function isWider(wide: PolicyMatch, narrow: PolicyMatch): boolean {
  const { paths, command, submitted_by: by } = wide;
  return (
    coversNames(wide.toolset, narrow.toolset, false) &&
    coversNames(wide.tool, narrow.tool, false) &&
    coversSome(wide.effect, narrow.effect) &&
    coversSome(wide.risk, narrow.risk) &&
    coversEach(wide.args, narrow.args) &&
    coversEach(wide.labels, narrow.labels) &&
    (paths === undefined || coversPaths(paths, narrow.paths)) &&
    (command === undefined || coversCommand(command, narrow.command)) &&
    (wide.hosts === undefined || coversHosts(wide.hosts, narrow.hosts)) &&
    coversNames(by?.name, narrow.submitted_by?.name, false) &&
    coversSome(by?.kind, narrow.submitted_by?.kind)
  );
}

type Some = string | readonly string[] | undefined;

const coversSome = (wide: Some, narrow: Some): boolean =>
  wide === undefined || (narrow !== undefined && listOf(narrow).every((one) => listOf(wide).includes(one)));

/** Every glob of the narrow list equals a glob of the wide list, or is matched by such a glob as text. */
function coversNames(wide: Some, narrow: Some, separated: boolean): boolean {
  if (wide === undefined) return true;
  if (narrow === undefined) return listOf(wide).some((one) => isEverything(one, separated));
  return listOf(narrow).every((one) => listOf(wide).some((other) => coversGlob(other, one, separated)));
}

const isEverything = (glob: string, separated: boolean): boolean => glob === '**' || (glob === '*' && !separated);

function coversGlob(wide: string, narrow: string, separated: boolean): boolean {
  if (wide === narrow || isEverything(wide, separated)) return true;
  const plain = compileGlob(narrow, separated).literal;
  if (plain !== undefined) return compileGlob(wide, separated).test(plain);
  const folder = /^([^*?[\]{}\\]+\/)\*\*$/.exec(wide)?.[1];
  return separated && folder !== undefined && narrow.startsWith(folder) && !narrow.includes('..');
}

function coversEach(
  wide: Readonly<Record<string, unknown>> = {},
  narrow: Readonly<Record<string, unknown>> = {},
): boolean {
  return Object.entries(wide).every(
    ([key, value]) => Object.hasOwn(narrow, key) && canonicalJson(narrow[key]) === canonicalJson(value),
  );
}

function coversPaths(wide: NonNullable<PolicyMatch['paths']>, narrow: PolicyMatch['paths']): boolean {
  if (narrow === undefined) return false;
  const [outer, inner] = [wide, narrow].map((paths) =>
    'globs' in paths ? paths : { globs: paths, access: undefined },
  );
  return coversSome(outer?.access, inner?.access) && coversNames(outer?.globs, inner?.globs, true);
}

function coversCommand(wide: NonNullable<PolicyMatch['command']>, narrow: PolicyMatch['command']): boolean {
  if (narrow === undefined) return false;
  return (
    coversSome(wide.class, narrow.class) &&
    coversNames(wide.program, narrow.program, false) &&
    (wide.argv === undefined || canonicalJson(wide.argv) === canonicalJson(narrow.argv ?? null)) &&
    (wide.regex === undefined || wide.regex === narrow.regex)
  );
}

function coversHosts(wide: readonly string[], narrow: readonly string[] | undefined): boolean {
  return (
    narrow?.every((one) => {
      const inner = parseHostPattern(one);
      return inner !== undefined && wide.some((text) => covers(text, inner));
    }) === true
  );
}

function covers(text: string, inner: NonNullable<ReturnType<typeof parseHostPattern>>): boolean {
  const outer = parseHostPattern(text);
  return outer !== undefined && matchHost(outer, inner) === 'yes';
}

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
