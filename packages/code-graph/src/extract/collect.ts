import type { Node, QueryMatch } from '@vscode/tree-sitter-wasm';
import type { ImportFact, ReferenceFact } from '../facts.ts';
import type { ExportedName, Grammar, SymbolKind } from '../grammars/grammar.ts';
import { type Place, startOf, wrapNode } from './place.ts';

/** Something that a query found, before it is known what is around it. Indices count UTF-16 units of the text. */
export interface Found {
  role: 'symbol' | 'scope' | 'block' | 'binding' | 'local' | 'drop' | 'mark' | 'reference';
  name: string;
  /** Where the name is: the same name is found by several patterns. */
  nameStart: number;
  start: number;
  end: number;
  startPlace: Place;
  endPlace: Place;
  pattern: number;
  kind?: SymbolKind;
  /** It holds all that follows, up to the next one of these. */
  isRest?: boolean;
  /** Containers that the declaration itself names. */
  within?: string[];
  reference?: ReferenceFact['kind'];
  qualifier?: string;
}

export interface Collected {
  found: Found[];
  imports: ImportFact[];
  exports: ExportedName[];
  /** Something was left out because it is too long. */
  cut: boolean;
}

/** A longer name is no name, but text around an error. */
const maxName = 256;
const maxQualifier = 60;
const referenceKinds = ['call', 'type', 'value', 'extends'] as const;

export function collect(input: { grammar: Grammar; matches: QueryMatch[]; text: string }): Collected {
  const collected: Collected = { found: [], imports: [], exports: [], cut: false };
  const statements: Statement[] = [];
  const byName = new Map<number, Found>();
  for (const match of input.matches) {
    const found = readMatch(input, match, { collected, statements });
    if (found === undefined) continue;
    if (found.name.length > maxName) {
      collected.cut = true;
    } else if (found.role === 'mark' || found.role === 'block' || found.role === 'scope') {
      collected.found.push(found);
    } else {
      const before = byName.get(found.nameStart);
      if (before === undefined || found.pattern < before.pattern) byName.set(found.nameStart, found);
    }
  }
  const isImport = within(readImportStatements(input.grammar, statements, collected));
  const isName = within(moduleNames(byName));
  for (const found of byName.values()) {
    const isKept = found.role !== 'drop' && !isImport(found.nameStart);
    if (isKept && (found.role === 'symbol' || !isName(found.nameStart))) collected.found.push(found);
  }
  extendRests(collected.found, input.text.length);
  return collected;
}

interface Statement {
  node: Node;
  start: number;
  end: number;
}

function readMatch(
  { grammar, text }: { grammar: Grammar; text: string },
  match: QueryMatch,
  { collected, statements }: { collected: Collected; statements: Statement[] },
): Found | undefined {
  let found: Partial<Found> | undefined;
  let whole: Node | undefined;
  let name: Node | undefined;
  let qualifier: Node | undefined;
  const within: string[] = [];
  for (const { name: capture, node } of match.captures) {
    const [role = '', kind, rest] = capture.split('.');
    if (capture.startsWith('_')) continue;
    if (role === 'name') name = node;
    else if (role === 'qualifier') qualifier = node;
    else if (role === 'in') within.push(...partsOf(text, node));
    else if (role === 'import') statements.push({ node, start: node.startIndex, end: node.endIndex });
    else if (role === 'export') collected.exports.push(...(grammar.readExports?.(node) ?? []));
    else {
      const reference = referenceKinds.find((one) => one === role);
      found = reference
        ? { role: 'reference', reference }
        : ({ role, kind, ...(rest && { isRest: true }) } as Partial<Found>);
      whole = node;
    }
  }
  if (found === undefined || whole === undefined) return undefined;
  const named = name ?? whole;
  const written = text.slice(named.startIndex, named.endIndex);
  return {
    role: 'reference',
    ...found,
    ...wrapNode(whole),
    name: nameOf(found, () => (found.role === 'scope' ? (partsOf(text, named).at(-1) ?? '') : unquote(written))),
    nameStart: named.startIndex,
    pattern: match.patternIndex,
    ...(qualifier && { qualifier: qualifierText(text, qualifier) }),
    ...(within.length > 0 && { within }),
  };
}

function nameOf({ role, kind }: Partial<Found>, written: () => string): string {
  if (role === 'mark') return kind ?? '';
  return role === 'block' ? '' : written();
}

/** An import inside an import is part of it, as the `require` in `const a = require('a')`. */
function readImportStatements(grammar: Grammar, statements: Statement[], collected: Collected): Statement[] {
  const outer: Statement[] = [];
  statements.sort((a, b) => a.start - b.start || b.end - a.end);
  for (const statement of statements) {
    const last = outer.at(-1);
    if (last && statement.start < last.end) continue;
    const written = grammar.readImports?.(statement.node) ?? [];
    if (written.length === 0) continue;
    outer.push(statement);
    for (const one of written) {
      if (one.source.length > maxName * 4) collected.cut = true;
      else collected.imports.push({ ...one, start: startOf(statement.node) });
    }
  }
  return outer;
}

/** Whether an index lies in one of the ranges, which are sorted and apart. */
function within(ranges: readonly { start: number; end: number }[]) {
  return (index: number) => {
    let low = 0;
    let high = ranges.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((ranges[middle]?.start ?? 0) <= index) low = middle + 1;
      else high = middle;
    }
    return index < (ranges[low - 1]?.end ?? -1);
  };
}

/** The parts of `com.example` are no references. */
function moduleNames(byName: ReadonlyMap<number, Found>) {
  return [...byName.values()]
    .filter(({ role, kind }) => role === 'symbol' && kind === 'module')
    .map(({ nameStart, name }) => ({ start: nameStart, end: nameStart + name.length }))
    .sort((a, b) => a.start - b.start);
}

function extendRests(found: Found[], length: number): void {
  const rests = found.filter(({ isRest }) => isRest).sort((a, b) => a.start - b.start);
  for (const [index, rest] of rests.entries()) rest.end = rests[index + 1]?.start ?? length;
}

function partsOf(text: string, node: Node): string[] {
  const written = text.slice(node.startIndex, Math.min(node.endIndex, node.startIndex + maxName));
  return written
    .replace(/<.*/s, '')
    .replaceAll(/'\w+\s|\b(mut|dyn|const)\b/g, '')
    .split(/::|\./)
    .map((part) => part.replaceAll(/[^\p{L}\p{N}_$]/gu, ''))
    .filter((part) => part !== '');
}

function qualifierText(text: string, node: Node): string {
  const end = node.endIndex;
  return end - node.startIndex > maxQualifier ? '…' : text.slice(node.startIndex, end).replaceAll(/\s+/g, '');
}

function unquote(name: string): string {
  if (name.startsWith(':')) return unquote(name.slice(1));
  return /^(["'`]).*\1$/s.test(name) ? name.slice(1, -1) : name;
}
