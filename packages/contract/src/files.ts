/** Reasons to refuse a file operation, each with what to do next. */
export const fileErrorCodes = {
  ENOENT: 'Check the path, or list the parent directory.',
  EOUTSIDE: 'Use a path inside the workspace.',
  EREPOSITORY:
    'Leave `.git` to git: run git in a command (git add, git commit, …). Its configuration and hooks cannot be changed.',
  EISDIR: 'Name a file inside the directory.',
  ENOTDIR: 'Check which part of the path is a file.',
  EEXIST: 'Read the existing file first, or choose another name.',
  ENOTEMPTY: 'Remove what is in the directory first, or remove it recursively.',
  ECHANGED: 'Read the file again and repeat the change on its present content.',
  EACCES: 'Change the permissions with a command, or choose another path.',
  EROFS:
    'Choose another path. A folder that the run sees from its source (`with`) never changes: copy what you need, or have the run submitted without it in `with` and let `prepare` install it.',
  ESPECIAL: 'Use regular files and directories only. This is a FIFO, a socket or a device.',
  EFBIG: 'Read a part of the file, or write less at once.',
  EINVAL: 'Correct the argument.',
  EGLOBINVALID: 'Correct the pattern: close every bracket, brace and parenthesis, or escape it with a backslash.',
  ENAMETOOLONG: 'Use a shorter name.',
  ELOOP: 'Remove the circular symbolic link.',
  ENOSPC: 'Free space on the workspace disk.',
} as const;
export type FileErrorCode = keyof typeof fileErrorCodes;

/** A file operation was refused. The caller gets it as data. The same operation is never retryable. */
export class FileError extends Error {
  override readonly name = 'FileError';
  readonly code: FileErrorCode;
  readonly retryable = false;
  readonly path: string;
  readonly next: string;

  constructor(code: FileErrorCode, path: string, message: string) {
    super(message);
    this.code = code;
    this.path = path;
    this.next = fileErrorCodes[code];
  }
}

export type EntryType = 'file' | 'directory' | 'symlink' | 'other';

export interface FileStat {
  type: EntryType;
  bytes: number;
  /** Permission bits, e.g. 0o644. */
  mode: number;
  mtime_ms: number;
}

export interface FileContent {
  data: Buffer;
  /** Size of the whole file, not of `data`. */
  bytes: number;
  /** sha256 (hex) of the whole file; null when the file is larger than `max_bytes`. */
  sha256: string | null;
  mode: number;
}

export interface DirectoryEntry {
  /** In a recursive list the path below the listed directory. Bytes that are not UTF-8 become U+FFFD. */
  name: string;
  type: EntryType;
  bytes: number;
  mtime_ms: number;
}

export interface ListOptions {
  /** At most 10_000. Fewer entries are listed when the names take more than 1 MiB. @default 10_000 */
  limit?: number;
  /** Lists what is below directories, too. Links are listed and never entered. An unreadable directory hides only its content. @default false */
  recursive?: boolean;
  /** Lists names that begin with a dot, and what is below them. @default true */
  hidden?: boolean;
}

export interface DirectoryList {
  /** Sorted by name in byte order. */
  entries: DirectoryEntry[];
  /** All entries, also those that are not listed. */
  total: number;
  /** `total` by type. */
  totals: Record<EntryType, number>;
}

/** What a write requires of the present file. The check and the write are atomic. */
export type WriteExpectation = { exists: false } | { sha256: string } | { any: true };

export interface GlobQuery {
  /** Relative to the root. @default '.' */
  cwd?: string;
  patterns: readonly string[];
  ignore?: readonly string[];
  /** Include names that start with a dot. @default false */
  dot?: boolean;
  /** @default 'file' */
  type?: 'file' | 'directory' | 'any';
  /** At most 10_000. @default 1000 */
  limit?: number;
  /** Matches to pass over, in the order of `sort`. @default 0 */
  offset?: number;
  /** Names in a path below `cwd` at most. 0 only checks the patterns. @default unlimited */
  depth?: number;
  /** What decides the order, before the limit applies. Equal ones are in byte order of their paths. @default 'path' */
  sort?: 'path' | 'newest' | 'largest';
  /** Returns size and time of each path. @default false */
  facts?: boolean;
}

/** What a glob says about a path. A symbolic link is described itself. */
export interface PathFacts {
  path: string;
  bytes: number;
  mtime_ms: number;
}

export interface GlobResult {
  /** Relative to the root. */
  paths: string[];
  total: number;
  truncated: boolean;
  /** One for each path, if requested. */
  facts?: PathFacts[] | undefined;
}

/**
 * Files of one workspace. The tool host reads and writes them inside the sandbox. Paths are relative to the workspace root or start with
 * `/workspace`. A path that leads outside gets `EOUTSIDE`. Every failure is a `FileError`, except that a broken or lying tool host is a
 * `SandboxError` with `retryable: true`.
 */
export interface WorkspaceFiles {
  /** Where a path really leads, through links, relative to the root. The last names may not exist. */
  resolve(path: string, signal?: AbortSignal): Promise<string>;
  /** @param options.follow false describes a link itself; otherwise links that stay inside are followed. @default true */
  stat(path: string, options?: { follow?: boolean }, signal?: AbortSignal): Promise<FileStat>;
  /** @param options.max_bytes maximum size of `data`, up to 32 MiB. @default 10 MiB. @param options.offset @default 0 */
  read(path: string, options?: { max_bytes?: number; offset?: number }, signal?: AbortSignal): Promise<FileContent>;
  /**
   * Writes a temporary file and renames it, so a failed write leaves the old content intact. Keeps the mode of a replaced file. At most
   * 32 MiB. A failed expectation is EEXIST or ECHANGED. It is not on disk when it returns: the snapshot is.
   * @param options.parents create missing directories. @default true
   */
  write(
    path: string,
    data: Buffer,
    options: { expect: WriteExpectation; parents?: boolean },
    signal?: AbortSignal,
  ): Promise<Written>;
  list(path: string, options?: ListOptions, signal?: AbortSignal): Promise<DirectoryList>;
  /** Symbolic links are not followed. A pattern that cannot be parsed is EGLOBINVALID. */
  glob(query: GlobQuery, signal?: AbortSignal): Promise<GlobResult>;
  /**
   * Makes a directory with its parents, or nothing. A file in the way is EEXIST or ENOTDIR.
   * @returns what was made, relative to the root, parents first; nothing when the directory was there. Fewer when the names take more than 1 MiB
   */
  makeDirectory(path: string, signal?: AbortSignal): Promise<{ created: string[] }>;
  /**
   * Removes a file, a link (never its target) or a directory, all of it or nothing. A directory with content is ENOTEMPTY without
   * `recursive`, the root EINVAL, and EACCES when its owner cannot remove some of it.
   * @returns what was removed, relative to the root, in byte order; the first 10_000, or fewer when the names take more than 1 MiB. `total` counts all
   */
  remove(path: string, options?: { recursive?: boolean }, signal?: AbortSignal): Promise<Removal>;
  /**
   * Moves a file, a link (never its target) or a directory. Without `replace` an existing target is EEXIST, also one that a command makes
   * during the move. With `replace` a file takes the place of a file or a link, and a directory that of an empty directory.
   */
  move(from: string, to: string, options?: { replace?: boolean }, signal?: AbortSignal): Promise<Move>;
}

export interface Written {
  /** Where the file really lies, through links, relative to the root. */
  path: string;
  bytes: number;
  created: boolean;
  sha256: string;
}

export interface Removal {
  removed: string[];
  total: number;
}

export interface Move {
  /** Where it was and is, relative to the root; links in the paths are resolved. */
  from: string;
  to: string;
  /** What was moved. */
  type: EntryType;
  /** Whether something else was at the target. */
  replaced: boolean;
}

/** Paths of a workspace changed that its run may not change. No snapshot was taken, and the tree is as it was found. */
export class ForbiddenChange extends Error {
  override readonly name = 'ForbiddenChange';
  readonly code = 'EPERMISSION';
  readonly retryable = false;
  readonly paths: readonly string[];

  constructor(paths: readonly string[]) {
    super(`${paths.length} paths changed that may not change: ${paths.slice(0, 5).join(', ')}`);
    this.paths = paths;
  }
}
