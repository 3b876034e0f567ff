export type SandboxErrorCode =
  /** No usable isolation on this host. */
  | 'ESANDBOXMISSING'
  /** Isolation has a gap that the policy does not accept. */
  | 'ESANDBOXGAP'
  /** bubblewrap has changed since it was unpacked or found. */
  | 'ESANDBOXCHANGED'
  /** The set-up of a sandbox failed, and the command did not run. */
  | 'ESANDBOXSETUP'
  /** The command is invalid: NUL in an argument, a working directory outside the workspace, a bad limit. */
  | 'ECOMMANDINVALID'
  /** The tool host ended during a request. */
  | 'ETOOLHOSTLOST'
  /** The tool host broke the protocol and was killed. */
  | 'ETOOLHOSTVIOLATION'
  /** The tool host did not answer in time and was killed. */
  | 'ETOOLHOSTTIMEOUT'
  /** Killed processes did not end. */
  | 'EKILLFAILED'
  /** Processes could not be frozen, so the action was not done. */
  | 'EFREEZEFAILED'
  /** The sandbox was closed. */
  | 'ESANDBOXCLOSED';

/**
 * The sandbox itself failed. It says nothing about the command or the files.
 *
 * @param options.retryable whether the same call may succeed later
 * @param options.next what the user or the caller can do
 */
export class SandboxError extends Error {
  override readonly name = 'SandboxError';
  readonly code: SandboxErrorCode;
  readonly retryable: boolean;
  readonly next: string;

  constructor(code: SandboxErrorCode, message: string, options: { retryable: boolean; next: string; cause?: unknown }) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined);
    this.code = code;
    this.retryable = options.retryable;
    this.next = options.next;
  }
}

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
