import { grammarOf } from '../../grammars/grammar-of.ts';
import type { Found, ReadableGraph, SymbolPlace, Use } from '../readable-graph.ts';
import { exportedFrom, findByImport } from './by-import.ts';
import { findInPackage } from './by-name.ts';
import { findInFile, holdersAround, isAfter } from './in-file.ts';
import { isClassLike, lastName, membersOf } from './symbols.ts';

/** Superclasses of superclasses are followed this far. */
const maxDepth = 5;

/** `module.name` of an imported module, `Class.name` of an imported class, `this.name` of a superclass. */
export function findByMember(use: Use): Found {
  const { graph, path, facts, language, reference } = use;
  const { name, qualifier = '' } = reference;
  if (grammarOf(language).self?.includes(qualifier)) {
    return holdersAround(use).flatMap((holder) => inherited(use, path, holder, 0));
  }
  const targets = graph.targetsOf(path);
  const places: SymbolPlace[] = [];
  let isOutside = false;
  for (const [index, fact] of facts.imports.entries()) {
    const imported = fact.names.find(({ as }) => as === qualifier);
    if (fact.whole !== qualifier && imported === undefined) continue;
    const files = targets[index]?.files ?? [];
    isOutside ||= files.length === 0 && targets[index]?.external !== undefined;
    for (const file of files) {
      const holders = imported === undefined ? [] : exportedFrom(graph, file, imported.name);
      const ofClass = holders.flatMap((holder) => membersAt(graph, holder, name));
      // The imported name can be a module, as in `from . import module`.
      places.push(...ofClass, ...(holders.length === 0 ? exportedFrom(graph, file, name) : []));
    }
  }
  if (places.length > 0) return places;
  return isOutside ? 'outside' : ofVisibleClass(use, qualifier);
}

/** `Class.name` or `namespace::Class::name` where the class needs no import. */
function ofVisibleClass(use: Use, qualifier: string): SymbolPlace[] {
  const holder = lastName(qualifier);
  if (holder === undefined || !grammarOf(use.language).seesOtherFiles) return [];
  const asClass: Use = { ...use, reference: { name: holder, kind: 'type', start: use.reference.start } };
  for (const find of [findByImport, findInPackage]) {
    const found = find(asClass);
    if (found === 'outside') return [];
    const members = found.flatMap((place) => membersAt(use.graph, place, use.reference.name));
    if (members.length > 0) return members;
  }
  return [];
}

function membersAt(graph: ReadableGraph, { path, index }: SymbolPlace, name: string): SymbolPlace[] {
  const facts = graph.factsOf(path);
  const holder = facts?.symbols[index];
  return facts && holder && isClassLike(holder) ? membersOf(path, facts, holder.name, name) : [];
}

/** Members of the base classes: the references of kind `extends` in the class's declaration. */
function inherited(use: Use, path: string, holder: string, depth: number): SymbolPlace[] {
  const facts = use.graph.factsOf(path);
  const declaration = facts?.symbols.find((symbol) => symbol.name === holder && isClassLike(symbol));
  if (facts === undefined || declaration === undefined || depth > maxDepth) return [];
  // A namespace holds classes, whose superclasses are not its own. A module of Ruby includes others.
  if (declaration.kind === 'module' && use.language !== 'ruby') return [];
  const { start, end } = declaration;
  const parents = facts.references.filter(
    (one) => one.kind === 'extends' && !isAfter(start, one.start) && isAfter(end, one.start),
  );
  return parents.slice(0, 20).flatMap((reference) => {
    const asClass: Use = { ...use, path, facts, reference };
    for (const find of [findInFile, findByImport, findInPackage]) {
      const found = find(asClass);
      if (found === 'outside') return [];
      const places = found.filter((place) => place.path !== path || facts.symbols[place.index]?.name !== holder);
      if (places.length === 0) continue;
      const own = places.flatMap((place) => membersAt(use.graph, place, use.reference.name));
      if (own.length > 0) return own;
      return places.flatMap((place) => inherited(use, place.path, reference.name, depth + 1));
    }
    return [];
  });
}
