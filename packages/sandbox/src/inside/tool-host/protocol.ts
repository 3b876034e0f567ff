import type { FileErrorCode } from '../../errors.ts';
import type { DirectoryEntry, FileStat, GlobQuery, WriteExpectation } from '../../port.ts';

/** One request per line on stdin, one reply per line on stdout; replies may come in another order. Bytes travel as base64. */
export type Operations = {
  stat: { input: { path: string }; output: FileStat };
  read: {
    input: { path: string; max_bytes: number; offset: number };
    output: { data: string; bytes: number; sha256: string | null; mode: number };
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

export type Reply =
  | { id: number; output: Operations[OperationName]['output'] }
  | { id: number; refused: { code: FileErrorCode; message: string } }
  /** The tool host could not do its work, e.g. on a disk error. */
  | { id: number; failed: string };
