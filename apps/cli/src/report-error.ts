import { ApiError, ConnectionError } from '@holdpoint/client';
import { plain } from '@holdpoint/readable';
import { CommanderError } from 'commander';
import { CliError, commandLine, type ExitCode, exitCodes, Interrupted, type Shell } from './shell/index.ts';
import { adviceText, mistakeText } from './words-for-people.ts';

/** The failure, the details, and the next step. */
export interface ErrorReport {
  exitCode: ExitCode;
  code: string;
  message: string;
  details: string[];
  next?: string;
}

export function describeError(error: unknown): ErrorReport {
  if (error instanceof CliError) {
    return { exitCode: error.exitCode, code: error.code, message: error.message, details: [], next: error.next };
  }
  if (error instanceof ApiError) {
    const details = [
      ...error.errors.map(({ pointer, detail }) => `${pointer}: ${mistakeText(detail)}`),
      ...error.conflicts.map(({ path, reason, detail }) => `${path}: ${reason} (${detail})`),
      ...(error.status >= 500 && error.requestId !== undefined ? [`request ${error.requestId}`] : []),
    ];
    return { exitCode: exitOf(error), code: error.code, message: messageHere(error), details, next: nextHere(error) };
  }
  if (error instanceof ConnectionError) {
    const next = 'Start the system with `npm start`, or give its address with --url or HOLDPOINT_URL.';
    return { exitCode: exitCodes.failed, code: error.code, message: error.message, details: [], next };
  }
  if (error instanceof Interrupted) {
    return { exitCode: exitCodes.interrupted, code: 'interrupted', message: error.message, details: [] };
  }
  if (error instanceof CommanderError) {
    const exitCode = error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
    return { exitCode, code: 'usage', message: error.message.replace(/^error: /, ''), details: [] };
  }
  return describeOther(error);
}

/** The server names requests; a user of the command wants a command line. */
function nextHere({ code, next, approvalId }: ApiError): string {
  switch (code) {
    case 'run_not_found':
      return `To list runs: ${commandLine('runs', 'list')}`;
    case 'approval_not_found':
      return `To list open approvals: ${commandLine('approvals', 'list')}`;
    case 'action_changed':
      return `Read it again, then decide: ${commandLine('approvals', 'show', '<approval>')}`;
    case 'publish_conflict':
      if (approvalId === undefined) return next;
      return `Look at the versions, then resolve each file: ${commandLine('approvals', 'show', approvalId)}`;
    case 'key_not_found':
      return `To list keys: ${commandLine('keys', 'list')}`;
    case 'unauthorized':
      return 'Set HOLDPOINT_KEY, or HOLDPOINT_DATA to the data directory of that system.';
    default:
      return adviceText(next);
  }
}

/** A mistake in a request is named by its place alone: a user of the command sees no request. */
function messageHere({ code, detail, errors: [first] }: ApiError): string {
  if (code !== 'invalid_request' || first === undefined) return mistakeText(detail);
  return `${first.pointer}: ${mistakeText(first.detail)}`;
}

/** Errors of the packages have `next`. Any other error is a bug in this program, so its stack is printed. */
function describeOther(error: unknown): ErrorReport {
  if (!(error instanceof Error))
    return { exitCode: exitCodes.failed, code: 'unknown', message: String(error), details: [] };
  const code = 'code' in error && typeof error.code === 'string' ? error.code : 'unknown';
  if ('next' in error && typeof error.next === 'string') {
    return { exitCode: exitCodes.failed, code, message: error.message, details: [], next: adviceText(error.next) };
  }
  if (code === 'ENOSPC') {
    const next = 'Free space on that disk, then start again; nothing acknowledged is lost.';
    return { exitCode: exitCodes.failed, code, message: error.message, details: [], next };
  }
  const details = code === 'unknown' ? [error.stack ?? ''] : [];
  return { exitCode: exitCodes.failed, code, message: error.message, details };
}

function exitOf({ code, status }: ApiError): ExitCode {
  switch (code) {
    case 'validator_failed':
    case 'publish_failed':
    case 'publish_rejected':
      return exitCodes.failed;
    case 'publish_expired':
      return exitCodes.canceled;
    default:
      return exitOfStatus(status);
  }
}

function exitOfStatus(status: number): ExitCode {
  switch (status) {
    case 400:
    case 413:
    case 415:
    case 422:
      return exitCodes.usage;
    case 401:
    case 403:
      return exitCodes.auth;
    case 404:
    case 410:
      return exitCodes.not_found;
    case 408:
    case 504:
      return exitCodes.timeout;
    case 409:
      return exitCodes.conflict;
    default:
      return exitCodes.failed;
  }
}

/** Prints text on stderr and, with `json`, a single object on stdout. */
export function reportError(shell: Shell, error: unknown, json: boolean): void {
  const { exitCode, code, message, details, next } = describeError(error);
  shell.exitCode = exitCode;
  if (json) shell.printJson({ error: { code, message, details, next: next ?? null } });
  // Commander has already printed its own errors.
  if (error instanceof CommanderError || error instanceof Interrupted) return;
  shell.say(`${shell.errColors.red('error:')} ${plain(message)}`);
  for (const detail of details) if (!message.endsWith(detail)) shell.say(`  ${plain(withoutRepeat(detail, message))}`);
  if (next !== undefined) shell.say(plain(next));
}

/** A detail with a repeated message is printed as its place alone. */
function withoutRepeat(detail: string, message: string): string {
  const repeated = `: ${message}`;
  return detail.endsWith(repeated) ? `at ${detail.slice(0, -repeated.length)}` : detail;
}
