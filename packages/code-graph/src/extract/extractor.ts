import type { FileFacts } from '../facts.ts';
import type { Language } from '../grammars/language.ts';

interface SourceFile {
  path: string;
  language: Language;
  bytes: Uint8Array;
}

export interface ExtractLimits {
  /** Milliseconds of work for parsing and reading one file, without loading its grammar. On a busy machine it may wait 4 times as long. */
  timeoutMs: number;
  /** Symbols, imports and references of a file, together. What is beyond is left out, and `cut` says so. */
  maxFacts: number;
}

/**
 * Why a file has no facts. `too_large`, `minified` and `binary` are seen before parsing. `timeout`: not parsed in time.
 * `parser_failed`: the parser broke, as when its memory is used up; then `isBroken` is set.
 */
type UnparsedReason = 'too_large' | 'minified' | 'binary' | 'timeout' | 'parser_failed';
export interface Unparsed {
  unparsed: UnparsedReason;
}

export interface Extractor {
  /** Never rejects for what a file contains. The same file has the same facts. */
  extract(file: SourceFile, limits: ExtractLimits): Promise<FileFacts | Unparsed>;
  /** An error in the parser, or the files before, used it up: open another one, best in a new process. */
  readonly isBroken: boolean;
}
