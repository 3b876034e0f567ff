import type { FileFacts, ImportFact } from '../../facts.ts';
import type { Language } from '../../grammars/grammar-of.ts';
import type { Found, ReadableGraph, SymbolPlace, Use } from '../readable-graph.ts';
import { isTopLevel, placesIn } from './symbols.ts';

/** Re-exports of re-exports are followed this far. */
const maxDepth = 8;
/** In these languages an import brings a whole file, with all imports of the file. */
const bringsAll: ReadonlySet<Language> = new Set(['c', 'cpp', 'ruby', 'bash', 'php']);

export function findByImport({ graph, path, facts, language, reference: { name } }: Use): Found {
  const targets = graph.targetsOf(path);
  let isOutside = false;
  const places: SymbolPlace[] = [];
  for (const [index, fact] of facts.imports.entries()) {
    const target = targets[index];
    const imported = fact.names.find(({ as }) => as === name);
    if (target === undefined || (imported === undefined && fact.whole !== name)) continue;
    isOutside ||= target.files.length === 0;
    const wanted = imported?.name ?? 'default';
    places.push(...target.files.flatMap((file) => exportedFrom(graph, file, wanted)));
  }
  if (places.length > 0) return places;
  if (isOutside) return 'outside';
  return fromWholeFiles(graph, language, { path, facts, name });
}

/** `import *`, and languages with whole-file imports. */
function fromWholeFiles(
  graph: ReadableGraph,
  language: Language,
  { path, facts, name }: { path: string; facts: FileFacts; name: string },
): SymbolPlace[] {
  const seen = new Set([path]);
  let files = wholeFiles(graph, language, path, facts);
  for (let depth = 0; depth < 4 && files.length > 0; depth++) {
    const fresh = files.filter((file) => !seen.has(file)).slice(0, 200);
    for (const file of fresh) seen.add(file);
    const found = fresh.flatMap((file) => exportedFrom(graph, file, name));
    if (found.length > 0) return found;
    if (!bringsAll.has(language)) return [];
    files = fresh.flatMap((file) => {
      const inner = graph.factsOf(file);
      return inner === undefined ? [] : wholeFiles(graph, language, file, inner);
    });
  }
  return [];
}

function wholeFiles(graph: ReadableGraph, language: Language, path: string, facts: FileFacts): string[] {
  const targets = graph.targetsOf(path);
  const isWhole = ({ names, whole }: ImportFact) =>
    names.some(({ name }) => name === '*') || (bringsAll.has(language) && names.length === 0 && whole === undefined);
  return facts.imports.flatMap((fact, index) => (isWhole(fact) ? (targets[index]?.files ?? []) : []));
}

/** The exports of a file under a name, through its re-exports. */
export function exportedFrom(graph: ReadableGraph, path: string, name: string): SymbolPlace[] {
  const seen = new Set<string>();
  const find = (file: string, wanted: string, depth: number): SymbolPlace[] => {
    const facts = graph.factsOf(file);
    const key = `${file}\0${wanted}`;
    if (facts === undefined || depth > maxDepth || seen.has(key)) return [];
    seen.add(key);
    const own = placesIn(file, facts, (symbol) => {
      const isNamed = symbol.name === wanted || (symbol.exported_as?.includes(wanted) ?? false);
      return isNamed && isTopLevel(facts, symbol);
    });
    if (own.length > 0) return own;
    const nested = placesIn(
      file,
      facts,
      (symbol) => symbol.name === wanted && symbol.exported && symbol.kind !== 'field',
    );
    const passed = reexported(graph, file, facts, wanted).flatMap((next) => find(next.file, next.name, depth + 1));
    return passed.length > 0 ? passed : graph.languageOf(file) === 'java' ? nested : [];
  };
  return find(path, name, 0);
}

/** In Python, C and Ruby every import of a file can be imported from the file. */
function reexported(graph: ReadableGraph, path: string, facts: FileFacts, wanted: string) {
  const language = graph.languageOf(path);
  const targets = graph.targetsOf(path);
  return facts.imports.flatMap((fact, index) => {
    if (!fact.reexport && language !== 'python') return [];
    const named = fact.names.filter(({ as }) => as === wanted || as === '*');
    const files = targets[index]?.files ?? [];
    return named.flatMap(({ name, as }) => files.map((file) => ({ file, name: as === '*' ? wanted : name })));
  });
}
