/** A file that the worker keeps open until the program has started. */
export interface PassedFile {
  /** Its number in the worker. */
  fd: number;
  /** Proves that the number still means this file. */
  inode: number;
  access: 'read' | 'write';
}

/**
 * What a program inherits, by fd: nothing, a file of the worker, bubblewrap's status lines, the control socket of enter.sh, or an IPC
 * channel on which it sends a listening socket.
 */
type Inherited = null | PassedFile | 'status' | 'control' | 'listener';

export interface StartRequest {
  kind: 'start';
  id: number;
  program: string;
  args: string[];
  options: { env: Record<string, string>; argv0?: string; uid?: number; gid?: number };
  stdio: Inherited[];
  niceness: number;
}

/** From the worker to the starter. */
export type StarterRequest =
  | StartRequest
  /** Writes to the control socket. */
  | { kind: 'answer'; id: number; data: Uint8Array }
  /** Closes the control socket. */
  | { kind: 'hang_up'; id: number }
  /** Makes FIFOs. */
  | { kind: 'fifos'; id: number; mkfifo: string; paths: string[] };

/** From the starter to the worker. `stat` is the content of /proc/PID/stat. */
export type Report =
  | { kind: 'started'; id: number; pid: number; stat: string | null }
  /** The operating system refused to start even the first program. */
  | { kind: 'failed'; id: number; message: string }
  /** The first process in the sandbox's pid namespace. */
  | { kind: 'child'; id: number; pid: number; stat: string | null }
  /** What enter.sh said. */
  | { kind: 'word'; id: number; word: string }
  /** Comes with the listening socket when it is open. */
  | { kind: 'listener'; id: number; isOpen: boolean }
  /** `exitCode`: of the command, as bubblewrap reported it. Null when it did not start, or bubblewrap was killed. */
  | { kind: 'ended'; id: number; signaled: boolean; exitCode: number | null }
  | { kind: 'fifos'; id: number; error: string | null };
