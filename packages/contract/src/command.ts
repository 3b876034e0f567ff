import type { CapabilityReport } from './capabilities.ts';

/** Limits of a command. */
export interface ProcessLimits {
  /** @default 120_000 */
  wall_ms: number;
  /** CPU seconds of each process. @default 120 */
  cpu_seconds: number;
  /** CPU seconds of all processes together. Applies only with control groups. @default 3600 */
  cpu_total_seconds: number;
  /** CPU share of all processes together, in percent of a processor (400: four). Applies only with control groups. @default 400 */
  cpu_percent: number;
  /** Processes and threads at once. @default 512 */
  processes: number;
  /** Size of each file. @default 1 GiB */
  file_bytes: number;
  /** @default 1024 */
  open_files: number;
  /** Bytes of stdout and stderr together in the result. `over_output` decides about a command with more output. @default 10 MiB */
  output_bytes: number;
  /**
   * Memory of all processes together, including files in /tmp. With control groups the kernel enforces the limit. Elsewhere the worker
   * measures memory ten times a second, and the kernel applies the limit to the writable private memory of each process. Address space does
   * not count: wasm and garbage collectors reserve far more. @default 4 GiB
   */
  memory_bytes: number;
  /**
   * Disk space of the whole workspace and of open files without a name. Each file, directory and link counts as at least 4 KiB. Measured
   * ten times a second and at the end. A command with uncountable files (fds in flight) is charged with all space lost by the disk since
   * the command began. A command may run in a workspace over the limit, but not add to the workspace. @default 4 GiB
   */
  workspace_bytes: number;
}

/** A tool's request to run a command. */
export interface CommandRequest {
  /** Executed as is. For a shell line use `['/bin/bash', '-c', line]`. */
  argv: readonly [string, ...string[]];
  /** Relative to the workspace root. @default '.' */
  cwd?: string | undefined;
  /** The command's environment. The tool may replace the sandbox's own PATH, HOME, LANG and TMPDIR. Names are identifiers. */
  env?: Readonly<Record<string, string>> | undefined;
  stdin?: string | undefined;
  /** Whether the command reaches the hosts of the run's network allowlist. @default true */
  network?: boolean | undefined;
  /** Passes the secrets of the run, where the run names them as variables, to the command. @default false */
  secrets?: boolean | undefined;
  limits?: Partial<ProcessLimits> | undefined;
  /** Bytes of each stream in the result, up to 64 MiB and `limits.output_bytes`. @default 65_536 */
  kept_bytes?: number | undefined;
  /**
   * For a command with more output than `limits.output_bytes`: `cut` lets the command run and keeps the beginning and the end of its output;
   * `kill` ends the command.
   * @default 'cut'
   */
  over_output?: 'cut' | 'kill' | undefined;
  /** `combined`: stdout has the output to stdout and stderr, in the order of the writes. @default 'separate' */
  streams?: 'separate' | 'combined' | undefined;
}

/** A search through the contents of a workspace's files. Ripgrep runs in the tool host, as the file operations do. */
export interface SearchRequest {
  /** The root of the search. A missing path, or a path outside, is a `FileError`. */
  path: string;
  /** The arguments of ripgrep. Texts of a caller stand behind `=` or `--`: ripgrep never reads them as flags. */
  args: readonly string[];
  /** `wall_ms`, `cpu_seconds`, `memory_bytes` and `output_bytes` hold; more output than `output_bytes` ends the search. */
  limits?: Partial<ProcessLimits> | undefined;
  /** Bytes of each stream in the result. @default 65_536 */
  kept_bytes?: number | undefined;
  /** `nuls`: stdout is dropped but for the number of its NUL bytes, in `nuls` of the result. @default 'text' */
  keeps?: 'text' | 'nuls' | undefined;
}

export interface SearchResult extends CommandResult {
  nuls: number;
}

/** An output stream, decoded as UTF-8. A stream over `kept_bytes` has only the first and the last half of this many bytes. */
export interface CapturedStream {
  text: string;
  bytes: number;
  truncated: boolean;
}

export type CommandEnd =
  /** `signal` is set when the exit code is 128 + its number. Shells and bubblewrap report signals in this way only. */
  | { status: 'exited'; exit_code: number; signal: string | null }
  | { status: 'timed_out'; after_ms: number }
  /**
   * The command exceeded a limit and was killed with its whole process tree, or ended before the kill. `limit` has the unit of the limit.
   * - output: only with `over_output: 'kill'`
   * - memory: the kernel killed a process of the command for lack of memory, or all together were over the limit
   * - disk: the command wrote most while the disk had less free space than `limit`, whatever its own limits
   * - processes: new processes were refused, and the command failed or kept trying
   */
  | {
      status: 'quota';
      quota: 'output' | 'cpu' | 'file_size' | 'memory' | 'workspace' | 'disk' | 'processes';
      limit: number;
    }
  /** `taken_over`: by `killAll` or `kill`, also of another worker. */
  | { status: 'killed'; reason: string; taken_over?: true };

export interface CommandResult {
  end: CommandEnd;
  stdout: CapturedStream;
  stderr: CapturedStream;
  duration_ms: number;
  capabilities: CapabilityReport;
  /** Processor time and the most memory at once of all its processes, as far as the host can tell. */
  use?: { cpu_ms?: number | undefined; memory_bytes?: number | undefined };
}
