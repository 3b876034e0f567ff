/** Scripts rely on these numbers. */
export const exitCodes = {
  ok: 0,
  /** The run failed, or the command could not do its work. */
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

/** A failure of the command. `message` has the event, `next` the next step. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly code: CliErrorCode;
  readonly exitCode: ExitCode;
  readonly next: string;

  constructor(code: CliErrorCode, message: string, options: { next?: string; cause?: unknown } = {}) {
    super(message, options);
    const known = registry[code];
    this.code = code;
    this.exitCode = known.exit;
    this.next = options.next ?? known.next;
  }
}

const registry = {
  usage: { exit: exitCodes.usage, next: 'Add --help to the command to see what it takes.' },
  not_found: { exit: exitCodes.not_found, next: 'Check the name in the command; nothing was changed.' },
  bad_environment: { exit: exitCodes.usage, next: 'Correct or unset the variable.' },
  not_delivered: { exit: exitCodes.failed, next: 'Correct the receiver or the address, and test again.' },
  not_decided: { exit: exitCodes.conflict, next: 'Read the approvals that are still open, and decide again.' },
  not_now: { exit: exitCodes.conflict, next: 'Stop the running system first: holdpoint down' },
  bad_plan: { exit: exitCodes.usage, next: 'Correct the plan and run it again; nothing was submitted.' },
  unknown_id: { exit: exitCodes.not_found, next: 'List what there is, and copy its id.' },
  ambiguous_id: { exit: exitCodes.usage, next: 'Give more characters, or the whole id.' },
  no_policy: { exit: exitCodes.usage, next: 'Give the file of a policy, in YAML or JSON.' },
  invalid_policy: { exit: exitCodes.usage, next: 'Correct the policy; nothing was submitted or changed.' },
  passkey_required: { exit: exitCodes.auth, next: 'Decide on the page of the approval in the console.' },
  no_key: { exit: exitCodes.auth, next: 'Start the system on this machine with `npm start`, or set HOLDPOINT_KEY.' },
  key_file_open: { exit: exitCodes.auth, next: 'Close the file to other users (chmod 600), or set HOLDPOINT_KEY.' },
  timeout: { exit: exitCodes.timeout, next: 'Nothing is lost. Look again, or allow more time.' },
  port_taken: {
    exit: exitCodes.conflict,
    next: 'Choose another port, for example HOLDPOINT_PORT=4848, or 0 for any free port.',
  },
  file_exists: { exit: exitCodes.conflict, next: 'Give another file with --output.' },
  server_file_invalid: { exit: exitCodes.usage, next: 'Correct the file of MCP servers.' },
  server_failed: { exit: exitCodes.failed, next: 'Look at the server, and try again. Nothing was changed.' },
  client_config_invalid: {
    exit: exitCodes.conflict,
    next: 'Correct the file, or add the server by hand (docs/mcp.md). The file is unchanged.',
  },
  config_changed: {
    exit: exitCodes.conflict,
    next: 'Close the program, and try again. The file is as the program left it.',
  },
  installation_copied: { exit: exitCodes.conflict, next: 'Give the copy an id of its own: holdpoint adopt --copy' },
  not_ours: { exit: exitCodes.conflict, next: 'Remove the file if you know that no system runs.' },
  not_ready: { exit: exitCodes.failed, next: 'Read the logs of the system; nothing acknowledged is lost.' },
  child_failed: { exit: exitCodes.failed, next: 'Read the log of the program, then start it again.' },
  does_not_end: {
    exit: exitCodes.failed,
    next: 'See what the process waits for (a disk, a debugger), and end the process by hand.',
  },
  cannot_write: { exit: exitCodes.failed, next: 'Give another file with --output.' },
  api_gone: { exit: exitCodes.failed, next: 'Follow the run again when the API is back.' },
  stream_ended: { exit: exitCodes.failed, next: 'Follow the run again; the run continues by itself.' },
} as const;
export type CliErrorCode = keyof typeof registry;
