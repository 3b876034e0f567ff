import type { Node, QueryMatch } from '@vscode/tree-sitter-wasm';
import type { ImportFact } from '../facts.ts';
import type { ExportedName, Grammar } from '../grammars/grammar.ts';
import { type Found, maxName, readMatch, startOf, toFound } from './read-match.ts';

export interface Collected {
  found: Found[];
  imports: ImportFact[];
  exports: ExportedName[];
  /** A fact was left out because of its length. */
  cut: boolean;
}

export function collect({
  grammar,
  matches,
  text,
}: {
  grammar: Grammar;
  matches: QueryMatch[];
  text: string;
}): Collected {
  const collected: Collected = { found: [], imports: [], exports: [], cut: false };
  const statements: Statement[] = [];
  const byName = new Map<number, Found>();
  for (const match of matches) {
    const { patternIndex } = match;
    const nodes = readMatch(match);
    const { role, whole, imported, exported } = nodes;
    if (imported) statements.push({ node: imported, start: imported.startIndex, end: imported.endIndex });
    if (exported) for (const one of grammar.readExports?.(exported) ?? []) collected.exports.push(one);
    if (role === undefined || whole === undefined) continue;
    const isNamed = role.role !== 'mark' && role.role !== 'block' && role.role !== 'scope';
    const before = isNamed ? byName.get((nodes.name ?? whole).startIndex) : undefined;
    if (before && before.pattern <= patternIndex) continue;
    const found = toFound(text, patternIndex, role, { ...nodes, whole });
    if (found.name.length > maxName) collected.cut = true;
    else if (isNamed) byName.set(found.nameStart, found);
    else collected.found.push(found);
  }
  const importing = readImportStatements(grammar, statements, collected);
  const isImport = within(importing);
  const isExporting = within(importing.filter(({ node }) => grammar.exportsItsNames?.(node)));
  const isName = within(moduleNames(byName));
  for (const found of byName.values()) {
    const isDeclared = found.role === 'symbol' || found.role === 'binding';
    const isHidden = isImport(found.nameStart) && !(isDeclared && isExporting(found.nameStart));
    const isKept = found.role !== 'drop' && !isHidden;
    if (isKept && (found.role === 'symbol' || !isName(found.nameStart))) collected.found.push(found);
  }
  extendRests(collected.found, text.length);
  return collected;
}

interface Statement {
  node: Node;
  start: number;
  end: number;
}

/**
 * An import inside an import of the same module is part of the outer import, as the `require` in `const a = require('a')`.
 * @returns the outermost statements, by position
 */
function readImportStatements(grammar: Grammar, statements: Statement[], collected: Collected): Statement[] {
  const outer: Statement[] = [];
  let sources = new Set<string>();
  statements.sort((a, b) => a.start - b.start || b.end - a.end);
  for (const statement of statements) {
    const last = outer.at(-1);
    const isInside = last !== undefined && statement.start < last.end;
    const read = grammar.readImports?.(statement.node) ?? [];
    const written = isInside ? read.filter(({ source }) => !sources.has(source)) : read;
    if (written.length === 0) continue;
    if (!isInside) {
      outer.push(statement);
      sources = new Set();
    }
    for (const { source } of written) sources.add(source);
    for (const one of written) {
      if (one.source.length > maxName * 4) collected.cut = true;
      else collected.imports.push({ ...one, start: startOf(statement.node) });
    }
  }
  return outer;
}

/** Whether a range contains an index. The ranges are sorted and disjoint. */
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
