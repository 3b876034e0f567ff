import type { FileFacts, ReferenceFact } from '../facts.ts';
import type { Language } from '../grammars/grammar-of.ts';
import type { ImportTarget } from './index-paths.ts';

/** A symbol of the tree: `index` in the symbols of the facts of `path`. */
export interface SymbolPlace {
  path: string;
  index: number;
}

/**
 * How a candidate was found, from certain to guessed: declared in the same file; brought by an import; a member of an
 * imported module or class; visible without an import, as in a Go or Java package; or only of the same name.
 */
export const findings = ['same_file', 'import', 'member', 'same_package', 'name'] as const;
export interface Candidate extends SymbolPlace {
  how: (typeof findings)[number];
}

export interface ReadableGraph {
  languageOf(path: string): Language | undefined;
  factsOf(path: string): FileFacts | undefined;
  /** A target for each import of the facts, in the same order. */
  targetsOf(path: string): readonly ImportTarget[];
  symbolsNamed(name: string): readonly SymbolPlace[];
}

/** A reference in its file. */
export interface Use {
  graph: ReadableGraph;
  path: string;
  facts: FileFacts;
  language: Language;
  reference: ReferenceFact;
}

/** Places, or `outside`: the reference is known to lead out of the tree. */
export type Found = SymbolPlace[] | 'outside';
