import type { ImportFact } from '../../facts.ts';
import type { Language } from '../../grammars/grammar-of.ts';
import type { ImportTarget, PathIndex } from '../index-paths.ts';

/** The input of a language's rules. */
export interface ImportContext {
  paths: PathIndex;
  configuration: ReadonlyMap<string, string>;
  filesOfModule(name: string): readonly string[];
}

interface ImportInput {
  path: string;
  language: Language;
  fact: ImportFact;
}

export type ResolveImport = (input: ImportInput) => ImportTarget;
