export type { FileFacts, ImportFact } from '../facts.ts';
export type { Language } from '../grammars/grammar-of.ts';
export { languageOf } from '../grammars/language-of.ts';
export { isConfiguration, openImportResolver } from '../resolve/open-import-resolver.ts';
export { openExtractor } from './open-extractor.ts';
