export { CodeGraphError } from './errors.ts';
export {
  type ExtractLimits,
  type Extractor,
  extractorVersion,
  openExtractor,
  type SourceFile,
  type Unparsed,
  type UnparsedReason,
} from './extract/open-extractor.ts';
export { type FileFacts, fileFactsSchema, type ImportFact, type ReferenceFact, type SymbolFact } from './facts.ts';
export { type Language, languages } from './grammars/language.ts';
export { languageOf } from './grammars/language-of.ts';
export { type GraphQuery, type Graphs, openGraphs } from './open-graphs.ts';
export { questionNames } from './query/questions.ts';
export type { ImportTarget } from './resolve/import-target.ts';
export {
  type ImportResolver,
  type ImportTree,
  isConfiguration,
  openImportResolver,
} from './resolve/open-import-resolver.ts';
export {
  type Candidate,
  findings,
  type ReadableGraph,
  resolveReference,
  type SymbolPlace,
} from './resolve/resolve-reference.ts';
