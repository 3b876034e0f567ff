export type SandboxErrorCode =
  /** No usable isolation on this host. */
  | 'ESANDBOXMISSING'
  /** Isolation works in part, and the policy does not accept the gap. */
  | 'ESANDBOXGAP'
  /** The program that sets sandboxes up is not as it was unpacked or found. */
  | 'ESANDBOXCHANGED'
  /** A sandbox could not be set up; the command did not run. */
  | 'ESANDBOXSETUP'
  /** The command cannot be expressed: NUL in an argument, a working directory outside the workspace, a bad limit. */
  | 'ECOMMANDINVALID'
  /** The tool host ended while a request was open. */
  | 'ETOOLHOSTLOST'
  /** The tool host broke the protocol; it was killed. */
  | 'ETOOLHOSTVIOLATION'
  /** The tool host did not answer in time; it was killed. */
  | 'ETOOLHOSTTIMEOUT'
  /** Killed processes did not disappear. */
  | 'EKILLFAILED'
  /** Processes did not stop, so that nothing was done while they should have stood still. */
  | 'EFREEZEFAILED'
  /** The sandbox was disposed. */
  | 'ESANDBOXCLOSED';

/**
 * The sandbox itself failed; says nothing about the user's command or files.
 *
 * @param options.retryable whether the same call may succeed later
 * @param options.next what a person or the caller can do
 */
export class SandboxError extends Error {
  override readonly name = 'SandboxError';
  readonly code: SandboxErrorCode;
  readonly retryable: boolean;
  readonly next: string;

  constructor(code: SandboxErrorCode, message: string, options: { retryable: boolean; next: string; cause?: unknown }) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.retryable = options.retryable;
    this.next = options.next;
  }
}

/** What can be wrong with a file operation, and what to do about it. */
export const fileErrorCodes = {
  ENOENT: 'Check the path, or list the parent directory.',
  EOUTSIDE: 'Use a path inside the workspace.',
  EREPOSITORY:
    'Leave `.git` to git: run it in a command (git add, git commit, …). Its configuration and hooks stay as they are.',
  EISDIR: 'Name a file inside the directory.',
  ENOTDIR: 'Check which part of the path is a file.',
  EEXIST: 'Read the existing file first, or choose another name.',
  ECHANGED: 'Read the file again and repeat the change on its present content.',
  EACCES: 'Change the permissions with a command, or choose another path.',
  ESPECIAL: 'Only regular files and directories can be used; this is a FIFO, a socket or a device.',
  EFBIG: 'Read a part of the file, or write less at once.',
  EINVAL: 'Correct the argument.',
  ENAMETOOLONG: 'Use a shorter name.',
  ELOOP: 'Remove the circular symbolic link.',
  ENOSPC: 'Free space on the workspace disk.',
} as const;
export type FileErrorCode = keyof typeof fileErrorCodes;

/** A file operation was refused. Data for whoever asked; never retryable as it is. */
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
