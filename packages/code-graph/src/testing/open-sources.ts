import { openExtractor } from '../extract/open-extractor.ts';
import type { FileFacts } from '../facts.ts';
import { type Language, languageOf } from '../grammars/grammar-of.ts';
import { isConfiguration, openImportResolver } from '../resolve/open-import-resolver.ts';
import type { ReadableGraph, SymbolPlace } from '../resolve/readable-graph.ts';

let opened: ReturnType<typeof openExtractor> | undefined;

/** The graph of some texts by path, in memory, with one parser for all tests of a file. */
export async function openSources(texts: Readonly<Record<string, string>>): Promise<ReadableGraph> {
  opened ??= openExtractor();
  const extractor = await opened;
  const read = new Map<string, { language: Language; facts: FileFacts }>();
  for (const [path, text] of Object.entries(texts)) {
    const bytes = Buffer.from(text);
    const language = languageOf(path, bytes);
    if (language === undefined) continue;
    const facts = await extractor.extract({ path, language, bytes }, { timeoutMs: 60_000, maxFacts: 20_000 });
    if ('unparsed' in facts || facts.has_errors) throw new Error(`${path}: not parsed`);
    read.set(path, { language, facts });
  }
  const declaring = (fits: (symbol: FileFacts['symbols'][number]) => boolean): SymbolPlace[] =>
    [...read].flatMap(([path, { facts }]) =>
      facts.symbols.flatMap((symbol, index) => (fits(symbol) ? [{ path, index }] : [])),
    );
  const resolver = openImportResolver({
    paths: Object.keys(texts),
    configuration: new Map(Object.entries(texts).filter(([path]) => isConfiguration(path))),
    filesOfModule: (wanted) => {
      const places = declaring(
        ({ kind, container, name }) => kind === 'module' && [...container, name].join('.') === wanted,
      );
      return [...new Set(places.map(({ path }) => path))];
    },
  });
  return {
    languageOf: (path) => read.get(path)?.language,
    factsOf: (path) => read.get(path)?.facts,
    targetsOf: (path) => {
      const one = read.get(path);
      return one?.facts.imports.map((fact) => resolver.resolve({ path, language: one.language, fact })) ?? [];
    },
    symbolsNamed: (name) => declaring((symbol) => symbol.name === name),
  };
}
