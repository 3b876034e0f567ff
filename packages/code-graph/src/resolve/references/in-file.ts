import type { SymbolFact } from '../../facts.ts';
import { grammarOf, type Language } from '../../grammars/grammar-of.ts';
import type { Found, SymbolPlace, Use } from '../readable-graph.ts';
import { isClassLike, isTopLevel, membersOf, placesIn } from './symbols.ts';

/** In a method of these languages a name without a qualifier can be a member of the class. */
const seesMembers: ReadonlySet<Language> = new Set(['java', 'csharp', 'c', 'cpp', 'ruby']);

export function findInFile(use: Use): Found {
  const { path, facts, language, reference } = use;
  const { name, qualifier } = reference;
  if (qualifier !== undefined) return findMember(use, qualifier);
  const named = placesIn(path, facts, (symbol) => symbol.name === name);
  if (named.length === 0) return [];
  const around = containersAround(use);
  const inner = named.filter(({ index }) => {
    const symbol = facts.symbols[index];
    if (symbol === undefined || symbol.container.length === 0) return false;
    return isVisible(symbol, around, seesMembers.has(language));
  });
  return inner.length > 0 ? inner : named.filter(({ index }) => isTop(use, facts.symbols[index]));
}

/** A declaration in a function is visible inside the function; a member is so in some languages. */
function isVisible(symbol: SymbolFact, around: readonly SymbolFact[], members: boolean): boolean {
  const holder = symbol.container.at(-1);
  return around.some((one) => one.name === holder && (members || !isClassLike(one) || one.kind === 'module'));
}

function isTop({ facts }: Use, symbol: SymbolFact | undefined): boolean {
  return symbol !== undefined && isTopLevel(facts, symbol);
}

/** `this.name`, or `Class.name` of a class of the file. */
function findMember(use: Use, qualifier: string): SymbolPlace[] {
  const { path, facts, language, reference } = use;
  if (grammarOf(language).self?.includes(qualifier)) {
    const holders = new Set(holdersAround(use));
    return [...holders].flatMap((holder) => membersOf(path, facts, holder, reference.name));
  }
  const declares = facts.symbols.some((symbol) => symbol.name === qualifier && isClassLike(symbol));
  return declares ? membersOf(path, facts, qualifier, reference.name) : [];
}

/** The classes around the reference, innermost first; in Rust the types of the enclosing `impl`s. */
export function holdersAround(use: Use): string[] {
  const around = containersAround(use).toReversed();
  const classes = around.filter(isClassLike).map(({ name }) => name);
  const implied = around.flatMap(({ kind, container }) => (kind === 'method' ? container.slice(-1) : []));
  return [...implied, ...classes];
}

/** The declarations around the reference, outermost first. */
function containersAround({ facts, reference: { start } }: Use): SymbolFact[] {
  return facts.symbols.filter((symbol) => !isAfter(symbol.start, start) && isAfter(symbol.end, start));
}

export function isAfter(a: SymbolFact['start'], b: SymbolFact['start']): boolean {
  return a.line > b.line || (a.line === b.line && a.column > b.column);
}
