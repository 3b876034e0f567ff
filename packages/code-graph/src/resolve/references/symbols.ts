import type { FileFacts, SymbolFact } from '../../facts.ts';
import type { Language } from '../../grammars/grammar-of.ts';
import type { SymbolPlace } from '../readable-graph.ts';

export function placesIn(path: string, facts: FileFacts, isMeant: (symbol: SymbolFact) => boolean): SymbolPlace[] {
  return facts.symbols.flatMap((symbol, index) => (isMeant(symbol) ? [{ path, index }] : []));
}

/** Not inside a class or function; an enclosing namespace does not count. */
export function isTopLevel(facts: FileFacts, { container }: SymbolFact): boolean {
  if (container.length === 0) return true;
  const modules = modulesOf(facts);
  return container.every((name) => modules.has(name));
}

const known = new WeakMap<FileFacts, Set<string>>();

function modulesOf(facts: FileFacts): ReadonlySet<string> {
  const before = known.get(facts);
  if (before) return before;
  const modules = new Set(facts.symbols.flatMap(({ kind, name }) => (kind === 'module' ? [name] : [])));
  known.set(facts, modules);
  return modules;
}

/** Members of the class, trait, enum or module of a name. */
export function membersOf(path: string, facts: FileFacts, holder: string, name: string): SymbolPlace[] {
  return placesIn(path, facts, (symbol) => symbol.name === name && symbol.container.at(-1) === holder);
}

const classKinds: readonly SymbolFact['kind'][] = ['class', 'interface', 'enum', 'type', 'module'];
export function isClassLike({ kind }: SymbolFact): boolean {
  return classKinds.includes(kind);
}

/** Languages whose files use each other. */
const families: readonly (readonly Language[])[] = [
  ['typescript', 'tsx', 'javascript'],
  ['c', 'cpp'],
];

export function areRelated(a: Language, b: Language | undefined): boolean {
  return a === b || families.some((family) => family.includes(a) && b !== undefined && family.includes(b));
}

/** `A::B.c` → `c`; undefined for `…` and any text but a name. */
export function lastName(qualifier: string): string | undefined {
  return /^\$?[\p{L}_][\p{L}\p{N}_$]*(?:(?:\.|::|->|\\)[\p{L}_][\p{L}\p{N}_$]*)*$/u.test(qualifier)
    ? qualifier.split(/\.|::|->|\\/).at(-1)
    : undefined;
}
