import { ApiError, ConnectionError } from '@holdpoint/client';
import { plain } from '@holdpoint/readable';
import { CommanderError } from 'commander';
import * as cli from './shell/index.ts';

/** Requests named in the API's advice, and the matching action for a user of the command. The longest come first. */
const commands: readonly (readonly [request: RegExp, words: () => string])[] = [
  [/\bGET \/v1\/toolsets\/\{name\}/g, () => quoted('tools', 'list', '--toolset <name>')],
  [/\bGET \/v1\/toolsets\b/g, () => quoted('tools', 'list')],
  [/\bGET \/v1\/tools\b/g, () => quoted('tools', 'list')],
  [/\bGET \/v1\/runs\/\{id\}\/steps/g, () => quoted('runs', 'steps', '<run>')],
  [/\bGET \/v1\/runs\/\{id\}\/tasks/g, () => quoted('tasks', 'list', '<run>')],
  [/\bGET \/v1\/runs\/\{id\}\/validation/g, () => quoted('runs', 'validation', '<run>')],
  [/\bPOST \/v1\/runs\/\{id\}\/messages/g, () => quoted('runs', 'say', '<run>')],
  [/\bGET \/v1\/runs\b/g, () => quoted('runs', 'list')],
  [/\bPOST \/v1\/approvals\/\{id\}\/delegate/g, () => quoted('approvals', 'delegate', '<approval>')],
  [
    /\bGET \/v1\/approvals\/\{id\}\/content, and send its content_digest with the decision/g,
    () => `${quoted('approvals', 'content', '<approval>')}, and pass its digest with --content`,
  ],
  [/\bGET \/v1\/approvals(\?status=pending)?/g, () => quoted('approvals', 'list')],
  [/\bGET \/v1\/policies\/\{name\}\/versions/g, () => quoted('policy', 'history', '<name>')],
  [/\bGET \/v1\/policies\b/g, () => quoted('policy', 'list')],
  [/\bGET \/v1\/secrets\b/g, () => quoted('secrets', 'list')],
  [/\bGET \/v1\/passkeys\b/g, () => quoted('passkeys', 'list')],
  [/\bDELETE \/v1\/passkeys\/\{id\}/g, () => quoted('passkeys', 'revoke', '<passkey>')],
  [/\bGET \/v1\/rules\b/g, () => quoted('rules', 'list')],
  [/\bPOST \/v1\/keys\b/g, () => quoted('keys', 'create')],
  [/\bGET \/v1\/me\b/g, () => quoted('keys', 'whoami')],
  [/Correct what `errors` names and send the request again; n/g, () => 'N'],
  [/Correct what `errors` names[:;] /g, () => ''],
  [/Correct the (steps|rules) that `errors` names/g, () => 'Correct them'],
  [/, or send the document\b/g, () => ', or give a file'],
  [/Read `conflicts`, bring\b/g, () => 'Bring'],
  [/`prepare\.network\.allow`/g, () => '--set prepare.network.allow'],
  [/\bit was not 2xx\b/g, () => 'it was refused'],
];

const quoted = (...words: string[]): string => `\`${cli.commandLine(...words)}\``;

/** Advice of the API or of a package, with command lines in place of requests. */
export const adviceText = (text: string): string =>
  commands
    .reduce((before, [request, words]) => before.replace(request, words), text)
    .replaceAll('`holdpoint ', `\`${cli.commandName} `);

/** The findings of a schema, without the words of the validation library. */
export const mistakeText = (text: string): string =>
  text
    .replace(/Invalid input: expected nonoptional, received undefined/g, 'this is missing')
    .replace(/Invalid input: expected (\w+), received undefined/g, 'this is missing')
    .replace(
      /Invalid input: expected (\w+), received (\w+)/g,
      (_, expected, given) => `expected ${noun(expected)}, not ${noun(given)}`,
    )
    .replace(
      /Too small: expected (\w+) to have >=(\d+) (\w+)/g,
      (_, what, least, of) => `${noun(what)} with at least ${least} ${of}`,
    )
    .replace(
      /Too big: expected (\w+) to have <=(\d+) (\w+)/g,
      (_, what, most, of) => `${noun(what)} with at most ${most} ${of}`,
    )
    .replace(
      /Too small: expected (\w+) to be (>=?)(\S+)/g,
      (_, what, sign, least) => `expected ${noun(what)} ${sign === '>' ? 'above' : 'of at least'} ${least}`,
    )
    .replace(
      /Too big: expected (\w+) to be (<=?)(\S+)/g,
      (_, what, sign, most) => `expected ${noun(what)} ${sign === '<' ? 'below' : 'of at most'} ${most}`,
    )
    .replace(/Invalid option: expected one of /g, 'expected one of ')
    .replace(/\bInvalid input\b/g, 'this is not valid here');

const noun = (type: string): string => nouns[type] ?? type;

const nouns: Record<string, string> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a mapping',
  record: 'a mapping',
  null: 'nothing',
  NaN: 'a text',
};

/** The failure, the details, and the next step. */
export interface ErrorReport {
  exitCode: cli.ExitCode;
  code: string;
  message: string;
  details: string[];
  next?: string;
}

export function describeError(error: unknown): ErrorReport {
  if (error instanceof cli.CliError) {
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
    return { exitCode: cli.exitCodes.failed, code: error.code, message: error.message, details: [], next };
  }
  if (error instanceof cli.Interrupted) {
    return { exitCode: cli.exitCodes.interrupted, code: 'interrupted', message: error.message, details: [] };
  }
  if (error instanceof CommanderError) {
    const exitCode = error.exitCode === 0 ? cli.exitCodes.ok : cli.exitCodes.usage;
    return { exitCode, code: 'usage', message: error.message.replace(/^error: /, ''), details: [] };
  }
  return describeOther(error);
}

/** The server names requests; a user of the command wants a command line. */
function nextHere({ code, next, approvalId }: ApiError): string {
  switch (code) {
    case 'run_not_found':
      return `To list runs: ${cli.commandLine('runs', 'list')}`;
    case 'approval_not_found':
      return `To list open approvals: ${cli.commandLine('approvals', 'list')}`;
    case 'action_changed':
      return `Read it again, then decide: ${cli.commandLine('approvals', 'show', '<approval>')}`;
    case 'publish_conflict':
      if (approvalId === undefined) return next;
      return `Look at the versions, then resolve each file: ${cli.commandLine('approvals', 'show', approvalId)}`;
    case 'key_not_found':
      return `To list keys: ${cli.commandLine('keys', 'list')}`;
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
    return { exitCode: cli.exitCodes.failed, code: 'unknown', message: String(error), details: [] };
  const code = 'code' in error && typeof error.code === 'string' ? error.code : 'unknown';
  if ('next' in error && typeof error.next === 'string') {
    return { exitCode: cli.exitCodes.failed, code, message: error.message, details: [], next: adviceText(error.next) };
  }
  if (code === 'ENOSPC') {
    const next = 'Free space on that disk, then start again; nothing acknowledged is lost.';
    return { exitCode: cli.exitCodes.failed, code, message: error.message, details: [], next };
  }
  const details = code === 'unknown' ? [error.stack ?? ''] : [];
  return { exitCode: cli.exitCodes.failed, code, message: error.message, details };
}

function exitOf({ code, status }: ApiError): cli.ExitCode {
  switch (code) {
    case 'validator_failed':
    case 'publish_failed':
    case 'publish_rejected':
      return cli.exitCodes.failed;
    case 'publish_expired':
      return cli.exitCodes.canceled;
    default:
      return exitOfStatus(status);
  }
}

function exitOfStatus(status: number): cli.ExitCode {
  switch (status) {
    case 400:
    case 413:
    case 415:
    case 422:
      return cli.exitCodes.usage;
    case 401:
    case 403:
      return cli.exitCodes.auth;
    case 404:
    case 410:
      return cli.exitCodes.not_found;
    case 408:
    case 504:
      return cli.exitCodes.timeout;
    case 409:
      return cli.exitCodes.conflict;
    default:
      return cli.exitCodes.failed;
  }
}

/** Prints text on stderr and, with `json`, a single object on stdout. */
export function reportError(shell: cli.Shell, error: unknown, json: boolean): void {
  const { exitCode, code, message, details, next } = describeError(error);
  shell.exitCode = exitCode;
  if (json) shell.printJson({ error: { code, message, details, next: next ?? null } });
  // Commander has already printed its own errors.
  if (error instanceof CommanderError || error instanceof cli.Interrupted) return;
  shell.say(`${shell.errColors.red('error:')} ${plain(message)}`);
  for (const detail of details) if (!message.endsWith(detail)) shell.say(`  ${plain(withoutRepeat(detail, message))}`);
  if (next !== undefined) shell.say(plain(next));
}

/** A detail with a repeated message is printed as its place alone. */
function withoutRepeat(detail: string, message: string): string {
  const repeated = `: ${message}`;
  return detail.endsWith(repeated) ? `at ${detail.slice(0, -repeated.length)}` : detail;
}
