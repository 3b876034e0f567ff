import type * as contract from '@holdpoint/contract';

/**
 * One request per line on stdin, one reply per line on stdout, in any order. The content of a file follows the line of its reply as raw
 * bytes. Lines stay short, because the worker parses each line on its event loop. Content to write is base64.
 */
export type Operations = {
  resolve: { input: { path: string }; output: { path: string } };
  stat: { input: { path: string; follow: boolean }; output: contract.FileStat };
  read: {
    input: { path: string; max_bytes: number; offset: number };
    output: { bytes: number; sha256: string | null; mode: number };
  };
  write: {
    input: { path: string; data: string; expect: contract.WriteExpectation; parents: boolean };
    output: contract.Written;
  };
  list: { input: { path: string } & Required<contract.ListOptions>; output: contract.DirectoryList };
  /** `depth`: null without a limit. `facts`: an entry for each path, or empty. */
  glob: {
    input: Required<Omit<contract.GlobQuery, 'depth'>> & { depth: number | null };
    output: Omit<contract.GlobResult, 'facts'> & { facts: { bytes: number; mtime_ms: number }[] };
  };
  makeDirectory: { input: { path: string }; output: { created: string[] } };
  remove: { input: { path: string; recursive: boolean }; output: contract.Removal };
  move: { input: { from: string; to: string; replace: boolean }; output: contract.Move };
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
const maxListedBytes = 1024 * 1024;

export type OutputStream = 'stdout' | 'stderr';

/** Maximum bytes of one part. */
export const maxPartBytes = 1024 * 1024;

export type Reply =
  | { id: number; output: Operations[OperationName]['output'] /** Bytes of content after the line. */; data?: number }
  /** A part of a search's output: `data` bytes follow. */
  | { id: number; part: OutputStream; data: number }
  | { id: number; refused: { code: contract.FileErrorCode; message: string } }
  /** The tool host failed, e.g. on a disk error. */
  | { id: number; failed: string };

/** Refuses an operation. The worker turns a refusal into a `FileError`. */
export class Refusal extends Error {
  readonly code: contract.FileErrorCode;

  constructor(code: contract.FileErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

const meanings: Record<string, [contract.FileErrorCode, string]> = {
  ENOENT: ['ENOENT', 'no such file or directory'],
  ENOTDIR: ['ENOTDIR', 'a part of the path is not a directory'],
  EISDIR: ['EISDIR', 'it is a directory'],
  EEXIST: ['EEXIST', 'it exists already'],
  ENOTEMPTY: ['ENOTEMPTY', 'the directory is not empty'],
  EACCES: ['EACCES', 'permission denied'],
  EPERM: ['EACCES', 'permission denied'],
  EROFS: ['EROFS', 'it is read-only'],
  // The only other mounts in a workspace are read-only folders of its source.
  EXDEV: ['EROFS', 'one of the two folders is read-only'],
  ETXTBSY: ['EACCES', 'a running program'],
  EBUSY: ['EACCES', 'in use'],
  ENAMETOOLONG: ['ENAMETOOLONG', 'the name is too long'],
  ELOOP: ['ELOOP', 'too many symbolic links'],
  ENOSPC: ['ENOSPC', 'no space left'],
  EDQUOT: ['ENOSPC', 'the disk quota is used up'],
  EFBIG: ['EFBIG', 'the file would be too large'],
  ENXIO: ['ESPECIAL', 'not a regular file'],
};

/** Null for an error unrelated to the file, e.g. EIO or EMFILE. */
export function refusalOf(error: unknown): Refusal | null {
  if (error instanceof Refusal) return error;
  const meaning = meanings[(error as NodeJS.ErrnoException).code ?? ''];
  return meaning ? new Refusal(meaning[0], meaning[1]) : null;
}

/** Sorts by UTF-8 bytes. JavaScript's own order differs above U+FFFF. */
export function sortByBytes(texts: readonly string[]): string[] {
  return texts
    .map((text) => ({ text, bytes: Buffer.from(text) }))
    .sort((a, b) => Buffer.compare(a.bytes, b.bytes))
    .map(({ text }) => text);
}

/** As many of the first items as fit into one reply. JSON writes a control character as six. */
export function fitReply<Item>(items: readonly Item[]): Item[] {
  let bytes = 0;
  const end = items.findIndex((item) => {
    bytes += Buffer.byteLength(JSON.stringify(item)) + 1;
    return bytes > maxListedBytes;
  });
  return items.slice(0, end === -1 ? items.length : end);
}
