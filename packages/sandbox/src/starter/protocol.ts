/** A file that the worker keeps open until the program has started. */
export interface PassedFile {
  /** Its number in the worker. */
  fd: number;
  /** Proves that the number still means this file. */
  inode: number;
  /** `wait`: reads block, as a shell needs it. Only for a FIFO. */
  access: 'read' | 'wait' | 'write';
}

/** What a program inherits, by fd: nothing, a file of the worker, or an IPC channel on which it sends a listening socket. */
type Inherited = null | PassedFile | 'listener';

export interface StartRequest {
  kind: 'start';
  id: number;
  program: string;
  args: string[];
  options: { env: Record<string, string>; argv0?: string; uid?: number; gid?: number };
  stdio: Inherited[];
  niceness: number;
  /** The view in which the program starts: the program then enters it. The option that names the view comes between `lead` and `args`. */
  view: { id: number; lead: string[] } | null;
}

/** A mount namespace that programs enter which the starter starts later. */
export interface ViewRequest {
  kind: 'view';
  id: number;
  /** Makes it, says `ready`, and waits for the end of its standard input. */
  program: string;
  args: string[];
  /** What has to lie at these paths in the namespace: device, inode and birth time. */
  shows: { path: string; identity: string }[];
  /** A program that enters the namespace. The option that names it comes between `lead` and `args`. It must succeed. */
  trial: { program: string; lead: string[]; args: string[] };
}

/** From the worker to the starter. */
export type StarterRequest =
  | StartRequest
  /** Makes FIFOs. */
  | { kind: 'fifos'; id: number; mkfifo: string; paths: string[] }
  | ViewRequest
  /** Ends the view of this request when no program that was started in it runs any more. */
  | { kind: 'drop_view'; id: number };

/** From the starter to the worker. `stat` is the content of /proc/PID/stat. */
export type Report =
  | { kind: 'started'; id: number; pid: number; stat: string | null }
  /** The operating system refused to start even the first program. */
  | { kind: 'failed'; id: number; message: string }
  /** Comes with the listening socket when it is open. */
  | { kind: 'listener'; id: number; isOpen: boolean }
  | { kind: 'ended'; id: number; signaled: boolean }
  | { kind: 'fifos'; id: number; error: string | null }
  /** Programs can start in the view of this request; or it could not be made. */
  | { kind: 'view'; id: number; isUsable: boolean };
