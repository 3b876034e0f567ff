export type { CodeGraphError } from './errors.ts';
export { openExtractor } from './extract/open-extractor.ts';
export type { FileFacts, ImportFact } from './facts.ts';
export type { Language } from './grammars/language.ts';
export { languageOf } from './grammars/language-of.ts';
export { type GraphQuery, type Graphs, openGraphs } from './open-graphs.ts';
export { questionNames } from './query/questions.ts';
export { isConfiguration, openImportResolver } from './resolve/open-import-resolver.ts';
