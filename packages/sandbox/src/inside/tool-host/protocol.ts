import type { DirectoryEntry, FileErrorCode, FileStat, GlobQuery, WriteExpectation } from '@holdpoint/contract';

/**
 * One request per line on stdin, one reply per line on stdout, in any order. The content of a file follows the line of its reply as raw
 * bytes, so that lines stay short: the worker parses each line on its event loop. Content to write is base64.
 */
export type Operations = {
  resolve: { input: { path: string }; output: { path: string } };
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

/** Maximum bytes of entries or paths in one reply. The rest is left out but counted. */
export const maxListedBytes = 1024 * 1024;

export type Reply =
  | { id: number; output: Operations[OperationName]['output'] /** Bytes of content that follow. */; data?: number }
  | { id: number; refused: { code: FileErrorCode; message: string } }
  /** The tool host itself failed, e.g. on a disk error. */
  | { id: number; failed: string };
