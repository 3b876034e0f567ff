/** Reasons to refuse a file operation, each with what to do next. */
export const fileErrorCodes = {
  ENOENT: 'Check the path, or list the parent directory.',
  EOUTSIDE: 'Use a path inside the workspace.',
  EREPOSITORY:
    'Leave `.git` to git: run git in a command (git add, git commit, …). Its configuration and hooks cannot be changed.',
  EISDIR: 'Name a file inside the directory.',
  ENOTDIR: 'Check which part of the path is a file.',
  EEXIST: 'Read the existing file first, or choose another name.',
  ECHANGED: 'Read the file again and repeat the change on its present content.',
  EACCES: 'Change the permissions with a command, or choose another path.',
  ESPECIAL: 'Use regular files and directories only. This is a FIFO, a socket or a device.',
  EFBIG: 'Read a part of the file, or write less at once.',
  EINVAL: 'Correct the argument.',
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
  name: string;
  type: EntryType;
  bytes: number;
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
  /** @default 1000 */
  limit?: number;
}

/**
 * Files of one workspace. The tool host reads and writes them inside the sandbox. Paths are relative to the workspace root or start with
 * `/workspace`. A path that leads outside gets `EOUTSIDE`. Every failure is a `FileError`, except that a broken or lying tool host is a
 * `SandboxError` with `retryable: true`.
 */
export interface WorkspaceFiles {
  /** Where a path really leads, through links, relative to the root. The last names may not exist. */
  resolve(path: string, signal?: AbortSignal): Promise<string>;
  /** Follows links that stay inside, so the type is never `symlink`. */
  stat(path: string, signal?: AbortSignal): Promise<FileStat>;
  /** @param options.max_bytes maximum size of `data`, up to 32 MiB. @default 10 MiB. @param options.offset @default 0 */
  read(path: string, options?: { max_bytes?: number; offset?: number }, signal?: AbortSignal): Promise<FileContent>;
  /**
   * Writes a temporary file and renames it, so a failed write leaves the old content intact. Keeps the mode of a replaced file. At most
   * 32 MiB. A failed expectation is EEXIST or ECHANGED.
   * @param options.parents create missing directories. @default true
   */
  write(
    path: string,
    data: Buffer,
    options: { expect: WriteExpectation; parents?: boolean },
    signal?: AbortSignal,
  ): Promise<{ bytes: number; created: boolean; sha256: string }>;
  /** Sorted by name in byte order. `total` counts all entries. @param options.limit at most 10_000, the default. Fewer when the names take more than 1 MiB */
  list(
    path: string,
    options?: { limit?: number },
    signal?: AbortSignal,
  ): Promise<{ entries: DirectoryEntry[]; total: number }>;
  /** Paths relative to the root, sorted in byte order. Symbolic links are not followed. */
  glob(query: GlobQuery, signal?: AbortSignal): Promise<{ paths: string[]; total: number; truncated: boolean }>;
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
