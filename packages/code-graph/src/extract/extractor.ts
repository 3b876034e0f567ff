import type { FileFacts } from '../facts.ts';
import type { Language } from '../grammars/language.ts';
import type { KeyedError } from './syntax-errors.ts';

interface SourceFile {
  path: string;
  language: Language;
  bytes: Uint8Array;
}

export interface ExtractLimits {
  /**
   * Milliseconds of work for the parse and the read of a file, without the load of its grammar. On a busy machine the file may wait 4 times
   * as long.
   */
  timeoutMs: number;
  /** Symbols, imports and references of a file, together. Facts beyond the limit are left out, and `cut` is set. */
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
  /** No content of a file makes the call reject. The same file has the same facts. */
  extract(file: SourceFile, limits: ExtractLimits): Promise<FileFacts | Unparsed>;
  /** The syntax errors of a file, without its facts. Never rejects because of a content. */
  errors(file: SourceFile, limits: Pick<ExtractLimits, 'timeoutMs'>): Promise<{ errors: KeyedError[] } | Unparsed>;
  /**
   * An error in the parser, or the memory of earlier files, has made the extractor useless: open another extractor, best in a new process.
   */
  readonly isBroken: boolean;
}
