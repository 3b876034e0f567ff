export type * from '../facts.ts';
export type * from '../grammars/grammar-of.ts';
export * from '../grammars/grammar-of.ts';
export * from '../resolve/open-import-resolver.ts';
export * from './open-extractor.ts';
