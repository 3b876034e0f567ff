/** Scripts rely on these numbers. */
export const exitCodes = {
  ok: 0,
  /** The run failed, or the command itself could not do its work. */
  failed: 1,
  usage: 2,
  /** The run was canceled, or its approval expired. */
  canceled: 3,
  auth: 4,
  /** The run waits for a decision or is paused. */
  waiting: 5,
  timeout: 6,
  not_found: 7,
  conflict: 8,
  interrupted: 130,
} as const;
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** A failure of the command itself. `message` says what happened, `next` what to do about it. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly code: CliErrorCode;
  readonly retryable: boolean;
  readonly exitCode: ExitCode;
  readonly next: string;

  constructor(code: CliErrorCode, message: string, options: { next?: string; cause?: unknown } = {}) {
    super(message, options);
    const known = registry[code];
    this.code = code;
    this.retryable = known.retryable;
    this.exitCode = known.exit;
    this.next = options.next ?? known.next;
  }
}

const registry = {
  usage: { exit: exitCodes.usage, retryable: false, next: 'Add --help to the command to see what it takes.' },
  bad_environment: { exit: exitCodes.usage, retryable: false, next: 'Correct or unset the variable.' },
  not_now: { exit: exitCodes.conflict, retryable: false, next: 'Stop the running system first.' },
  bad_plan: {
    exit: exitCodes.usage,
    retryable: false,
    next: 'Correct the plan and run it again; nothing was submitted.',
  },
  no_key: {
    exit: exitCodes.auth,
    retryable: false,
    next: 'Start the system on this machine with `npm start`, or set HOLDPOINT_KEY.',
  },
  key_file_open: {
    exit: exitCodes.auth,
    retryable: false,
    next: 'Close the file to other users (chmod 600), or set HOLDPOINT_KEY.',
  },
  timeout: { exit: exitCodes.timeout, retryable: true, next: 'Nothing is lost. Look again, or allow more time.' },
  port_taken: {
    exit: exitCodes.conflict,
    retryable: false,
    next: 'Choose another port, for example HOLDPOINT_PORT=4848, or 0 for any free port.',
  },
  file_exists: { exit: exitCodes.conflict, retryable: false, next: 'Give another file with --output.' },
  not_ours: { exit: exitCodes.conflict, retryable: false, next: 'Remove the file if you know that no system runs.' },
  not_ready: { exit: exitCodes.failed, retryable: true, next: 'Read its logs; nothing acknowledged is lost.' },
  child_failed: { exit: exitCodes.failed, retryable: false, next: 'Read the log.' },
  does_not_end: { exit: exitCodes.failed, retryable: true, next: 'Look at the process and end it by hand.' },
  cannot_write: { exit: exitCodes.failed, retryable: false, next: 'Give another file with --output.' },
  stream_ended: { exit: exitCodes.failed, retryable: true, next: 'Follow the run again; it continues by itself.' },
} as const;
export type CliErrorCode = keyof typeof registry;
