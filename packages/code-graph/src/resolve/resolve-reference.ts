import type { ReferenceFact, SymbolFact } from '../facts.ts';
import type { Candidate, Found, ReadableGraph, SymbolPlace, Use } from './readable-graph.ts';
import { findByImport } from './references/by-import.ts';
import { findByMember } from './references/by-member.ts';
import { findByName, findInPackage } from './references/by-name.ts';
import { findInFile } from './references/in-file.ts';

const maxCandidates = 50;
const typeKinds: readonly SymbolFact['kind'][] = ['class', 'interface', 'type', 'enum', 'module'];

/**
 * The possible symbols of a reference: only the symbols of the surest rule, at most 50. None when an import leads outside the tree.
 */
export function resolveReference(
  graph: ReadableGraph,
  { path, reference }: { path: string; reference: ReferenceFact },
): Candidate[] {
  const facts = graph.factsOf(path);
  const language = graph.languageOf(path);
  if (facts === undefined || language === undefined) return [];
  const use: Use = { graph, path, facts, language, reference };
  const steps = reference.qualifier === undefined ? unqualified : qualified;
  for (const [how, find] of steps) {
    const places = find(use);
    if (places === 'outside') return [];
    const fitting = preferTypes(graph, reference, unique(places));
    if (fitting.length > 0) return fitting.slice(0, maxCandidates).map((place) => ({ ...place, how }));
  }
  return [];
}

type Step = readonly [Candidate['how'], (use: Use) => Found];

const unqualified: readonly Step[] = [
  ['same_file', findInFile],
  ['import', findByImport],
  ['same_package', findInPackage],
  ['name', findByName],
];
const qualified: readonly Step[] = [
  ['same_file', findInFile],
  ['member', findByMember],
  ['name', findByName],
];

/** A class can be found more than once: around a method, and through the declaration of the method. */
function unique(places: SymbolPlace[]): SymbolPlace[] {
  return [...new Map(places.map((place) => [`${place.path}\0${place.index}`, place])).values()];
}

/** A name can be a type and a value; a base class, or a name in the place of a type, means the type. */
function preferTypes(graph: ReadableGraph, { kind }: ReferenceFact, places: SymbolPlace[]): SymbolPlace[] {
  if (kind !== 'type' && kind !== 'extends') return places;
  const types = places.filter(({ path, index }) => {
    const symbol = graph.factsOf(path)?.symbols[index];
    return symbol !== undefined && typeKinds.includes(symbol.kind);
  });
  return types.length > 0 ? types : places;
}
