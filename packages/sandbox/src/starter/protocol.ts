/** A file kept open by the worker until the program has started. */
export interface PassedFile {
  /** The file's number in the worker. */
  fd: number;
  /** Proves that the number still means this file. */
  inode: number;
  /** `wait`: reads block, because a shell needs blocking reads. Only for a FIFO. */
  access: 'read' | 'wait' | 'write';
}

/** A program's inheritance at an fd: nothing, a file of the worker, or an IPC channel for sending a listening socket. */
type Inherited = null | PassedFile | 'listener';

export interface StartRequest {
  kind: 'start';
  id: number;
  program: string;
  args: string[];
  options: { env: Record<string, string>; argv0?: string; uid?: number; gid?: number };
  stdio: Inherited[];
  niceness: number;
  /** The program starts in this view, by entering the view. The option with the view's name comes between `lead` and `args`. */
  view: { id: number; lead: string[] } | null;
}

/** A mount namespace. Programs started later by the starter enter the namespace. */
export interface ViewRequest {
  kind: 'view';
  id: number;
  /** Makes the namespace, says `ready`, and waits for the end of its standard input. */
  program: string;
  args: string[];
  /** The files required at these paths in the namespace. `identity` is device, inode and birth time. */
  shows: { path: string; identity: string }[];
  /**
   * A program to enter the namespace as a trial. The trial must succeed. The option with the namespace's name comes between `lead` and
   * `args`.
   */
  trial: { program: string; lead: string[]; args: string[] };
}

/** From the worker to the starter. */
export type StarterRequest =
  | StartRequest
  /** Makes FIFOs. */
  | { kind: 'fifos'; id: number; mkfifo: string; paths: string[] }
  | ViewRequest
  /** Ends the view of this request when no program started in the view runs any more. */
  | { kind: 'drop_view'; id: number };

/** From the starter to the worker. `stat` is the content of /proc/PID/stat. */
export type Report =
  | { kind: 'started'; id: number; pid: number; stat: string | null }
  /** The operating system refused to start even the first program. */
  | { kind: 'failed'; id: number; message: string }
  /** Comes with the listening socket when the socket is open. */
  | { kind: 'listener'; id: number; isOpen: boolean }
  | { kind: 'ended'; id: number; signaled: boolean }
  | { kind: 'fifos'; id: number; error: string | null }
  /** Programs can start in the view of this request, or the view could not be made. */
  | { kind: 'view'; id: number; isUsable: boolean };
