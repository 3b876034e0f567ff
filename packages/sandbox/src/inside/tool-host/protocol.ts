import type { FileErrorCode } from '../../errors.ts';
import type { DirectoryEntry, FileStat, GlobQuery, WriteExpectation } from '../../port.ts';

/**
 * One request per line on stdin, one reply per line on stdout; replies may come in another order. The content of a file follows the line of
 * its reply as it is, so that a line stays short: the worker parses each on its event loop. What is written travels as base64.
 */
export type Operations = {
  stat: { input: { path: string }; output: FileStat };
  read: {
    input: { path: string; max_bytes: number; offset: number };
    output: { bytes: number; sha256: string | null; mode: number };
  };
  write: {
    input: { path: string; data: string; expect: WriteExpectation; parents: boolean };
    output: { bytes: number; created: boolean; sha256: string };
  };
  list: { input: { path: string; limit: number }; output: { entries: DirectoryEntry[]; total: number } };
  glob: { input: Required<GlobQuery>; output: { paths: string[]; total: number; truncated: boolean } };
};
export type OperationName = keyof Operations;

export type Request = {
  [Name in OperationName]: { id: number; operation: Name; input: Operations[Name]['input'] };
}[OperationName];

/** Bytes of entries or paths in one reply; what does not fit is left out, and counted. */
export const MOST_LISTED_BYTES = 1024 * 1024;

export type Reply =
  | { id: number; output: Operations[OperationName]['output'] /** How many bytes of content follow. */; data?: number }
  | { id: number; refused: { code: FileErrorCode; message: string } }
  /** The tool host could not do its work, e.g. on a disk error. */
  | { id: number; failed: string };
