import type { CallPart, PolicyMatch, PolicyRule } from '@holdpoint/contract';
import { compileArgument } from '../match/argument.ts';
import type { CallFacts, CommandFact } from '../match/call-facts.ts';
import { compileCommand, listOf } from '../match/command.ts';
import { compileGlob, type Glob, type Pieces } from '../match/glob.ts';
import { type HostPattern, matchHost, parseHostPattern } from '../match/host-pattern.ts';
import { compilePathGlob, normalPath, type TouchedPath } from '../match/path-glob.ts';
import type { RegexBudget } from '../match/regex.ts';
import { all, and, any, type Truth } from '../match/truth.ts';

/** The unit a rule matches: a simple command, a path, a host, or the whole call without any of these. */
export type Part =
  | { kind: 'call' }
  /** `program`: its name without folders, if known. */
  | { kind: 'command'; command: CommandFact | 'unparsed'; program: string | undefined }
  | { kind: 'path'; touched: TouchedPath }
  /** `undefined`: not a host, so any rule about hosts may apply. */
  | { kind: 'host'; text: string; host: HostPattern | undefined };

export function partsOf({ touches: { paths, commands, hosts } }: CallFacts): Part[] {
  const parts: Part[] = [
    ...(commands === 'unparsed' ? [commands] : commands).map(
      (command): Part => ({ kind: 'command', command, program: programOf(command) }),
    ),
    ...paths.map((touched): Part => ({ kind: 'path', touched })),
    ...hosts.map((text): Part => ({ kind: 'host', text, host: parseHostPattern(text) })),
  ];
  return parts.length === 0 ? [{ kind: 'call' }] : parts;
}

function programOf(command: CommandFact | 'unparsed'): string | undefined {
  const [word] = command === 'unparsed' ? [] : command.words;
  return word?.every((piece) => piece !== null) ? word.join('').replace(/^.*\//s, '') : undefined;
}

const maxDetail = 300;

/** The part in a form for people. */
export function describePart(part: Part): CallPart {
  const text = detailOf(part);
  return { kind: part.kind, detail: text.length > maxDetail ? `${text.slice(0, maxDetail)}…` : text };
}

function detailOf(part: Part): string {
  switch (part.kind) {
    case 'call':
      return 'the whole call';
    case 'command':
      return part.command === 'unparsed'
        ? 'a command line that cannot be parsed'
        : part.command.words.map(wordText).join(' ');
    case 'path': {
      const { path, access } = part.touched;
      return `${access} ${typeof path === 'string' ? normalPath(path) : wordText(path)}`;
    }
    case 'host':
      return part.text;
    default:
      return part satisfies never;
  }
}

export const wordText = (word: Pieces): string => word.map((piece) => piece ?? '…').join('');

/** Tools of the toolset `holdpoint` that do the work of older tools: a policy may have been written before they existed. */
const olderTools: ReadonlyMap<string, readonly string[]> = new Map([
  ['multi_edit', ['edit']],
  ['apply_patch', ['edit', 'write_file']],
]);

/** The tools whose work a call does besides its own tool's. */
const actsAs = ({ toolset, tool }: Pick<CallFacts, 'toolset' | 'tool'>): readonly string[] =>
  (toolset === 'holdpoint' ? olderTools.get(tool) : undefined) ?? [];

/** A field of a match. */
export interface Condition {
  /** The pointer from the rule: `/match/tool`. */
  pointer: string;
  test(facts: CallFacts, part: Part, budget: RegexBudget): Truth;
}

export interface CompiledRule {
  index: number;
  rule: PolicyRule;
  /** The same for every part of a call. */
  ofCall: readonly Condition[];
  ofPart: readonly Condition[];
  /** When only commands of these programs can match: their names without folders. */
  programs: ReadonlySet<string> | undefined;
}

/** @throws GlobError, RegexError, HostPatternError */
export function compileRule(rule: PolicyRule, index: number): CompiledRule {
  const { match } = rule;
  return {
    index,
    rule,
    ofCall: [...callConditions(rule), ...coversExternal(rule)],
    ofPart: partConditions(rule),
    programs: programsOf(match),
  };
}

class HostPatternError extends Error {
  override name = 'HostPatternError';
}

function programsOf({ command }: PolicyMatch): ReadonlySet<string> | undefined {
  const [first = '**'] = command?.argv ?? [];
  const globs = listOf(command?.program ?? (first === '**' ? [] : first)).map(
    (source) => compileGlob(source, false).literal,
  );
  const names = globs
    .filter((literal) => literal !== undefined)
    .map((literal) => literal.slice(literal.lastIndexOf('/') + 1));
  return names.length > 0 && names.length === globs.length ? new Set(names) : undefined;
}

function callConditions(rule: PolicyRule): Condition[] {
  const { match } = rule;
  const { toolset, tool, effect, risk, args = {}, labels = {}, submitted_by } = match;
  const found: Condition[] = [];
  const add = (pointer: string, test: (facts: CallFacts, budget: RegexBudget) => Truth) =>
    found.push({ pointer: `/match/${pointer}`, test: (facts, _part, budget) => test(facts, budget) });
  if (toolset !== undefined)
    add(
      'toolset',
      named(toolset, (facts) => facts.toolset),
    );
  if (tool !== undefined) add('tool', namedTool(rule.action, tool));
  if (effect !== undefined) add('effect', (facts) => sure(listOf(effect).includes(facts.effect)));
  if (risk !== undefined) add('risk', (facts) => sure(listOf(risk).includes(facts.risk)));
  for (const [pointer, wanted] of Object.entries(args)) {
    const matcher = compileArgument(pointer, wanted);
    add(`args/${escapeKey(pointer)}`, (facts, budget) => matcher.test(facts.args, budget));
  }
  for (const [label, wanted] of Object.entries(labels)) {
    const glob = compileGlob(wanted, false);
    add(`labels/${escapeKey(label)}`, (facts) => {
      return sure(Object.hasOwn(facts.labels, label) && glob.test(facts.labels[label] ?? ''));
    });
  }
  if (submitted_by?.name !== undefined) {
    const globs = compileAll(submitted_by.name);
    add('submitted_by/name', ({ submitted_by: by }) => (by ? sure(globs.some((glob) => glob.test(by.name))) : 'maybe'));
  }
  if (submitted_by?.kind !== undefined) {
    const kinds = listOf(submitted_by.kind);
    add('submitted_by/kind', ({ submitted_by: by }) => (by ? sure(kinds.includes(by.kind)) : 'maybe'));
  }
  return found;
}

/** A rule to allow paths or commands alone means the workspace. */
function coversExternal({ action, match }: PolicyRule): Condition[] {
  const { paths, command, tool, toolset, effect, hosts } = match;
  const isLocal = paths !== undefined || command !== undefined;
  const names = [tool, toolset, effect, hosts].some((field) => field !== undefined);
  if (action !== 'allow' || !isLocal || names) return [];
  const test = ({ effect: has, touches }: CallFacts) => sure(has !== 'external' || touches.hosts.length > 0);
  return [{ pointer: '/match', test }];
}

function partConditions({ action, surely, match: { paths, command, hosts } }: PolicyRule): Condition[] {
  const found: Condition[] = [];
  if (command !== undefined) {
    const matcher = compileCommand(command, { surely });
    found.push({
      pointer: '/match/command',
      test: (_facts, part, budget) => (part.kind === 'command' ? matcher.test(part.command, budget) : 'no'),
    });
    // The words of a command say nothing of where its output goes. Its class and its paths do.
    if (action === 'allow' && command.class === undefined && paths === undefined) found.push(keepsOutput);
  }
  if (paths !== undefined) {
    const wanted = 'globs' in paths ? paths : { globs: paths, access: undefined };
    const access = wanted.access === undefined ? undefined : listOf(wanted.access);
    const globs = wanted.globs.map(compilePathGlob);
    const test = (touched: TouchedPath) =>
      access?.includes(touched.access) === false ? 'no' : any(globs, (glob) => glob.test(touched));
    found.push({ pointer: '/match/paths', test: (_facts, part) => testPaths(part, test) });
  }
  if (hosts !== undefined) {
    const patterns = hosts.map((text) => {
      const pattern = parseHostPattern(text);
      if (pattern === undefined) throw new HostPatternError('is not a host: write host, host:port, *.host:port or *');
      return pattern;
    });
    found.push({
      pointer: '/match/hosts',
      test: (_facts, part) => {
        if (part.kind === 'host') return testHost(part.host, patterns);
        if (part.kind !== 'command') return 'no';
        if (part.command === 'unparsed') return 'maybe';
        return and(
          'maybe',
          any(part.command.hosts, (host) => testHost(parseHostPattern(host), patterns)),
        );
      },
    });
  }
  return found;
}

const keepsOutput: Condition = {
  pointer: '/match/command',
  test: (_facts, part) => sure(part.kind !== 'command' || part.command === 'unparsed' || !part.command.redirects),
};

const testHost = (host: HostPattern | undefined, patterns: readonly HostPattern[]): Truth =>
  host === undefined ? 'maybe' : any(patterns, (pattern) => matchHost(pattern, host));

/** Every path of a command must match for `yes`; a single possible match is enough for `maybe`. */
function testPaths(part: Part, test: (touched: TouchedPath) => Truth): Truth {
  if (part.kind === 'path') return test(part.touched);
  if (part.kind !== 'command') return 'no';
  if (part.command === 'unparsed') return 'maybe';
  const { paths } = part.command;
  if (paths.length === 0) return 'no';
  if (all(paths, test) === 'yes') return 'yes';
  return any(paths, test) === 'no' ? 'no' : 'maybe';
}

function named(names: string | readonly string[], read: (facts: CallFacts) => string): (facts: CallFacts) => Truth {
  const globs = compileAll(names);
  return (facts) => sure(globs.some((glob) => glob.test(read(facts))));
}

/** A rule that holds or denies a tool also binds the tools that do the same work. A rule allows the named tools alone. */
function namedTool(action: PolicyRule['action'], names: string | readonly string[]): (facts: CallFacts) => Truth {
  const globs = compileAll(names);
  const isNamed = (tool: string) => globs.some((glob) => glob.test(tool));
  return (facts) => sure(isNamed(facts.tool) || (action !== 'allow' && actsAs(facts).some(isNamed)));
}

const compileAll = (sources: string | readonly string[]): Glob[] =>
  listOf(sources).map((one) => compileGlob(one, false));
const sure = (holds: boolean): Truth => (holds ? 'yes' : 'no');
const escapeKey = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1');
