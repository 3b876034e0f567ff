import type { FileFacts, SymbolFact } from '../../facts.ts';
import { grammarOf, type Language } from '../../grammars/grammar-of.ts';
import { folderOf } from '../index-paths.ts';
import type { Found, SymbolPlace, Use } from '../readable-graph.ts';
import { areRelated, isTopLevel } from './symbols.ts';

/** Visible without an import: the folder of a Go package, a Java package, a namespace of C# or PHP. */
export function findInPackage(use: Use): Found {
  const { path, facts, language, reference } = use;
  if (!['go', 'java', 'csharp', 'php'].includes(language)) return [];
  const here = namespacesOf(facts);
  return candidates(use, reference.name)
    .filter(({ place, symbol, facts: other }) => {
      if (!isTopLevel(other, symbol)) return false;
      if (language === 'go') return folderOf(place.path) === folderOf(path);
      if (language === 'java' && here.length === 0) return folderOf(place.path) === folderOf(path);
      const there = language === 'java' ? namespacesOf(other) : [symbol.container.join('.')];
      // The members of an enclosing namespace are visible as well.
      return there.some((name) =>
        here.some((own) => own === name || (language === 'csharp' && own.startsWith(`${name}.`))),
      );
    })
    .map(({ place }) => place);
}

function namespacesOf({ symbols }: FileFacts): string[] {
  return symbols.flatMap(({ kind, container, name }) => (kind === 'module' ? [[...container, name].join('.')] : []));
}

/**
 * The same name alone. In languages where a name without a qualifier is declared or imported in its file, the name alone proves nothing:
 * the name is a global of the language.
 */
export function findByName(use: Use): Found {
  const { facts, language, reference, path } = use;
  const isMember = reference.qualifier !== undefined;
  const usesGlobals = isScript(language, facts);
  const isImporting = !grammarOf(language).seesOtherFiles || language === 'go';
  if (!isMember && isImporting && !usesGlobals) return [];
  return candidates(use, reference.name)
    .filter(({ place, symbol, facts: other }) => {
      const isShared = usesGlobals && isScript(language, other);
      if (!symbol.exported && place.path !== path && !isShared) return false;
      return isMember ? !isTopLevel(other, symbol) || isImporting === false : isNameable(use, other, symbol);
    })
    .map(({ place }) => place);
}

/** Scripts of a page are no modules: they share their declarations. */
function isScript(language: Language, { imports, symbols }: FileFacts): boolean {
  return language === 'javascript' && imports.length === 0 && !symbols.some(({ exported }) => exported);
}

function isNameable({ language }: Use, facts: FileFacts, symbol: SymbolFact): boolean {
  return isTopLevel(facts, symbol) || ['ruby', 'cpp', 'java', 'csharp'].includes(language);
}

function candidates(
  { graph, language }: Use,
  name: string,
): { place: SymbolPlace; symbol: SymbolFact; facts: FileFacts }[] {
  return graph
    .symbolsNamed(name)
    .slice(0, 1000)
    .flatMap((place) => {
      const facts = areRelated(language, graph.languageOf(place.path)) ? graph.factsOf(place.path) : undefined;
      const symbol = facts?.symbols[place.index];
      return facts && symbol ? [{ place, symbol, facts }] : [];
    });
}
