import { outputsFolder } from './long-result.ts';

/** Reasons to refuse a file operation, each with the caller's next step. */
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

/** The oldest outputs make place for new ones. */
const noOutput = 'The whole text is no longer kept, or it was another run’s. Make the call again whose result it was.';

/** A file operation was refused. The caller gets the refusal as data. The same operation is never retryable. */
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
    this.next = code === 'ENOENT' && path.startsWith(`${outputsFolder}/`) ? noOutput : fileErrorCodes[code];
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
  /** In a recursive list the path below the listed directory. U+FFFD stands for bytes outside of UTF-8. */
  name: string;
  type: EntryType;
  bytes: number;
  mtime_ms: number;
}

export interface ListOptions {
  /** At most 10_000. Fewer entries are listed when the names take more than 1 MiB. @default 10_000 */
  limit?: number;
  /**
   * Lists the contents of subdirectories, too. Links are listed and never entered. An unreadable directory hides only its content. @default
   * false
   */
  recursive?: boolean;
  /** Lists names with a leading dot, and the contents of such directories. @default true */
  hidden?: boolean;
}

export interface DirectoryList {
  /** Sorted by name in byte order. */
  entries: DirectoryEntry[];
  /** The number of all entries, listed or not. */
  total: number;
  /** `total` by type. */
  totals: Record<EntryType, number>;
}

/** The state of the file required by a write. The check and the write are atomic. */
export type WriteExpectation = { exists: false } | { sha256: string } | { any: true };

export interface GlobQuery {
  /** Relative to the root. @default '.' */
  cwd?: string;
  patterns: readonly string[];
  ignore?: readonly string[];
  /** Include names with a leading dot. @default false */
  dot?: boolean;
  /** @default 'file' */
  type?: 'file' | 'directory' | 'any';
  /** At most 10_000. @default 1000 */
  limit?: number;
  /** Matches to pass over, in the order of `sort`. @default 0 */
  offset?: number;
  /** Names in a path below `cwd` at most. 0 only checks the patterns. @default unlimited */
  depth?: number;
  /** The sort key, applied before the limit. Equal ones are in byte order of their paths. @default 'path' */
  sort?: 'path' | 'newest' | 'largest';
  /** Returns size and time of each path. @default false */
  facts?: boolean;
}

/** The facts about a path found by a glob. A symbolic link is not followed: the facts describe the link. */
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
  /** Facts for each path, if requested. */
  facts?: PathFacts[] | undefined;
}

/**
 * Files of one workspace. The tool host reads and writes them inside the sandbox. Paths are relative to the workspace root or start with
 * `/workspace`. A path to the outside gets `EOUTSIDE`. Every failure is a `FileError`, with an exception: a broken or lying tool host is a
 * `SandboxError` with `retryable: true`.
 */
export interface WorkspaceFiles {
  /** Where a path really leads, through links, relative to the root. The last names may not exist. */
  resolve(path: string, signal?: AbortSignal): Promise<string>;
  /** @param options.follow false describes a link, not its target; true follows links with a target inside. @default true */
  stat(path: string, options?: { follow?: boolean }, signal?: AbortSignal): Promise<FileStat>;
  /** @param options.max_bytes maximum size of `data`, up to 32 MiB. @default 10 MiB. @param options.offset @default 0 */
  read(path: string, options?: { max_bytes?: number; offset?: number }, signal?: AbortSignal): Promise<FileContent>;
  /**
   * Writes a temporary file and renames it, so a failed write leaves the old content intact. Keeps the mode of a replaced file. At most
   * 32 MiB. A failed expectation is EEXIST or ECHANGED. The write returns before the file is on disk; the snapshot syncs to disk.
   * @param options.parents create missing directories. @default true
   */
  write(
    path: string,
    data: Buffer,
    options: { expect: WriteExpectation; parents?: boolean },
    signal?: AbortSignal,
  ): Promise<Written>;
  list(path: string, options?: ListOptions, signal?: AbortSignal): Promise<DirectoryList>;
  /** Symbolic links are not followed. An unparsable pattern is EGLOBINVALID. */
  glob(query: GlobQuery, signal?: AbortSignal): Promise<GlobResult>;
  /**
   * Makes a directory with its parents, or nothing. A file in the way is EEXIST or ENOTDIR.
   * @returns the created directories, relative to the root, parents first; none when the directory was there. Fewer when the names take more than 1 MiB
   */
  makeDirectory(path: string, signal?: AbortSignal): Promise<{ created: string[] }>;
  /**
   * Removes a file, a link (never its target) or a directory, all of it or nothing. A directory with content is ENOTEMPTY without
   * `recursive`, the root EINVAL, and EACCES when its owner cannot remove a part of the content.
   * @returns the removed paths, relative to the root, in byte order; the first 10_000, or fewer when the names take more than 1 MiB. `total` counts all
   */
  remove(path: string, options?: { recursive?: boolean }, signal?: AbortSignal): Promise<Removal>;
  /**
   * Moves a file, a link (never its target) or a directory. Without `replace` an existing target is EEXIST, even when a command makes the
   * target during the move. With `replace` a file takes the place of a file or a link, and a directory the place of an empty directory.
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
  /** The old and the new path, relative to the root; links in the paths are resolved. */
  from: string;
  to: string;
  /** The type of the moved entry. */
  type: EntryType;
  /** Whether something else was at the target. */
  replaced: boolean;
}

/** A call changed paths outside of its run's permissions. No snapshot was taken, and the tree keeps the change. */
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
