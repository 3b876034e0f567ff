import type { FileFacts, ImportFact, ReferenceFact, SymbolFact } from '../facts.ts';
import type { Grammar } from '../grammars/grammar.ts';
import type { Collected } from './collect.ts';
import { isFunctionLike, maxDepth, type Nested, nest, type Place } from './read-match.ts';

/** In a file with more modules, the extractor does not look for the modules around an import. */
const maxModules = 200;

/** Makes the facts of a file from the matches of its query. */
export function factsOf(
  { grammar, text, maxFacts }: { grammar: Grammar; text: string; maxFacts: number },
  { found, imports: written, exports, cut }: Collected,
): Omit<FileFacts, 'has_errors'> {
  const nested = nest(found);
  for (const one of nested) declareLocal(one);
  const symbols = symbolsOf({ grammar, text, exports }, nested);
  const imports = relocate(grammar, written, symbols);
  const known = new Set(symbols.map((symbol) => symbol.name));
  for (const { names, whole } of imports) {
    for (const { as } of names) known.add(as);
    if (whole !== undefined) known.add(whole).add(whole.split('.')[0] ?? whole);
  }
  const references = nested.flatMap((one) => (isReference(grammar, known, one) ? [toReference(one)] : []));
  const room = maxFacts - symbols.length - imports.length;
  return {
    symbols: symbols.slice(0, maxFacts),
    imports: imports.slice(0, Math.max(0, maxFacts - symbols.length)),
    references: references.slice(0, Math.max(0, room)),
    cut: cut || references.length > room || nested.some((one) => one.container.length >= maxDepth),
  };
}

function relocate(grammar: Grammar, imports: ImportFact[], symbols: SymbolFact[]): ImportFact[] {
  const modules = symbols.filter(({ kind }) => kind === 'module').slice(0, maxModules);
  if (grammar.outsideModules === undefined || modules.length === 0) return imports;
  return imports.map((fact) => {
    const around = modules.filter(({ start, end }) => isBefore(start, fact.start) && isBefore(fact.start, end));
    const names = around.map(({ name }) => name);
    return around.length === 0
      ? fact
      : { ...fact, source: grammar.outsideModules?.(fact.source, names) ?? fact.source };
  });
}

function isBefore(a: Place, b: Place): boolean {
  return a.line < b.line || (a.line === b.line && a.column < b.column);
}

/** A variable of a function is no symbol: other files cannot name such a variable. Its name hides the same name of the file. */
function declareLocal(one: Nested): void {
  const holder = one.role === 'local' ? one.parent : isVariable(one) ? one.scope : undefined;
  if (holder === undefined) return;
  holder.locals ??= new Set();
  holder.locals.add(one.name);
}

function isVariable({ role, kind, parent, scope }: Nested): boolean {
  if (role === 'binding') return scope !== undefined;
  if (role !== 'symbol' || (kind !== 'variable' && kind !== 'constant')) return false;
  return parent !== undefined && isFunctionLike(parent);
}

function symbolsOf(
  { grammar, text, exports }: { grammar: Grammar; text: string; exports: Collected['exports'] },
  nested: Nested[],
): SymbolFact[] {
  const exportedNames = Map.groupBy(exports, ({ name }) => name);
  const exported = new Map<Nested, boolean>();
  const isRepeated = openRepeats();
  return nested.flatMap((one) => {
    const kind = kindOf(grammar, one);
    if (kind === undefined || isVariable(one)) {
      if (one.role === 'scope') exported.set(one, one.marks.has('trait'));
      return [];
    }
    const around = one.parent && {
      kind: kindOfParent(grammar, one.parent),
      exported: exported.get(one.parent) ?? false,
    };
    const names = one.parent === undefined ? exportedNames.get(one.name) : undefined;
    const head = text.slice(Math.max(one.start, one.nameStart - 300), one.nameStart);
    const isExported =
      names !== undefined ||
      grammar.isExported({ name: one.name, kind, head, marks: one.marks, ...(around && { parent: around }) });
    exported.set(one, isExported);
    if ((kind === 'variable' || kind === 'constant' || kind === 'field') && isRepeated(one)) return [];
    const as = new Set(names?.map((each) => each.as).filter((each) => each !== one.name));
    if (one.marks.has('default') && one.name !== 'default') as.add('default');
    return [
      {
        name: one.name,
        kind,
        container: [...one.container],
        exported: isExported,
        ...(as.size > 0 && { exported_as: [...as] }),
        start: one.startPlace,
        end: one.endPlace ?? one.startPlace,
      },
    ];
  });
}

/**
 * The second assignment to a variable of a Python module declares nothing. Two declarations of the same name each have their own fields: as
 * a class in both branches of an `if`, or a Go type in two cases of a `switch`.
 */
function openRepeats(): (one: Nested) => boolean {
  const seen = new Map<Nested | undefined, Set<string>>();
  return ({ parent, container, name }) => {
    const names = seen.get(parent) ?? new Set();
    seen.set(parent, names);
    const key = [...container, name].join('\0');
    const isKnown = names.has(key);
    names.add(key);
    return isKnown;
  };
}

function kindOf(grammar: Grammar, { role, kind, name, parent, marks }: Nested): SymbolFact['kind'] | undefined {
  if (role !== 'symbol' && role !== 'binding') return undefined;
  const isMember = parent?.role === 'scope' || (parent?.role === 'symbol' && isClassLike(parent.kind));
  if (kind === 'function' && isMember) return 'method';
  if (kind !== undefined && kind !== 'variable') return kind;
  if (isMember) return 'field';
  const isConstant = grammar.capitalsAreConstant === true && /^[A-Z][A-Z0-9_]*$/.test(name);
  return marks.has('const') || isConstant ? 'constant' : 'variable';
}

function kindOfParent(grammar: Grammar, parent: Nested): SymbolFact['kind'] | 'scope' {
  return kindOf(grammar, parent) ?? (parent.role === 'block' ? 'function' : 'scope');
}

function isClassLike(kind: SymbolFact['kind'] | undefined): boolean {
  return kind === 'class' || kind === 'interface' || kind === 'enum' || kind === 'type';
}

function isReference(grammar: Grammar, known: ReadonlySet<string>, one: Nested): boolean {
  if (one.role !== 'reference' || one.name === '') return false;
  const seesOthers = grammar.seesOtherFiles || known.has('*');
  if (one.qualifier === undefined) {
    if (grammar.builtins?.has(one.name) || isLocal(one)) return false;
    return one.reference !== 'value' || seesOthers || known.has(one.name);
  }
  if (one.reference !== 'value' || seesOthers) return true;
  return known.has(one.qualifier) || (grammar.self?.includes(one.qualifier) ?? false);
}

/** Scopes deeper than 100 are not searched. */
function isLocal({ name, parent }: Nested): boolean {
  let around = parent;
  for (let depth = 0; around !== undefined && depth < 100; depth++) {
    if (around.locals?.has(name)) return true;
    around = around.parent;
  }
  return false;
}

function toReference({ name, qualifier, reference, startPlace }: Nested): ReferenceFact {
  return { name, ...(qualifier !== undefined && { qualifier }), kind: reference ?? 'value', start: startPlace };
}
