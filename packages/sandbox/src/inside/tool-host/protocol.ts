import type {
  DirectoryList,
  FileErrorCode,
  FileStat,
  GlobQuery,
  GlobResult,
  ListOptions,
  Move,
  Removal,
  WriteExpectation,
  Written,
} from '@holdpoint/contract';

/**
 * One request per line on stdin, one reply per line on stdout, in any order. The content of a file follows the line of its reply as raw
 * bytes. Lines stay short, because the worker parses each line on its event loop. Content to write is base64.
 */
export type Operations = {
  resolve: { input: { path: string }; output: { path: string } };
  stat: { input: { path: string; follow: boolean }; output: FileStat };
  read: {
    input: { path: string; max_bytes: number; offset: number };
    output: { bytes: number; sha256: string | null; mode: number };
  };
  write: {
    input: { path: string; data: string; expect: WriteExpectation; parents: boolean };
    output: Written;
  };
  list: { input: { path: string } & Required<ListOptions>; output: DirectoryList };
  /** `depth`: null without a limit. `facts`: an entry for each path, or empty. */
  glob: {
    input: Required<Omit<GlobQuery, 'depth'>> & { depth: number | null };
    output: Omit<GlobResult, 'facts'> & { facts: { bytes: number; mtime_ms: number }[] };
  };
  makeDirectory: { input: { path: string }; output: { created: string[] } };
  remove: { input: { path: string; recursive: boolean }; output: Removal };
  move: { input: { from: string; to: string; replace: boolean }; output: Move };
  /** The search's output arrives before the reply, in parts. */
  search: { input: SearchInput; output: { exit_code: number | null; signal: string | null; nuls: number } };
  /** Kills the search with this key, unless the search has ended. */
  cancel: { input: { key: number }; output: Record<string, never> };
};

export interface SearchInput {
  /** Names the search for `cancel`. */
  key: number;
  path: string;
  /** ripgrep's arguments. */
  args: readonly string[];
  keeps: 'text' | 'nuls';
  cpu_seconds: number;
  memory_bytes: number;
}

export type OperationName = keyof Operations;

export type Request = {
  [Name in OperationName]: { id: number; operation: Name; input: Operations[Name]['input'] };
}[OperationName];

/** Maximum bytes of entries or paths in one reply. The rest is left out but counted. */
export const maxListedBytes = 1024 * 1024;

export type OutputStream = 'stdout' | 'stderr';

/** Maximum bytes of one part. */
export const maxPartBytes = 1024 * 1024;

export type Reply =
  | { id: number; output: Operations[OperationName]['output'] /** Bytes of content after the line. */; data?: number }
  /** A part of a search's output: `data` bytes follow. */
  | { id: number; part: OutputStream; data: number }
  | { id: number; refused: { code: FileErrorCode; message: string } }
  /** The tool host failed, e.g. on a disk error. */
  | { id: number; failed: string };
