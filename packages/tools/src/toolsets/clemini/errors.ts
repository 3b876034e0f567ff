import type { Json, Problem, SettledCall, SettledStatus } from '@holdpoint/contract';

type Code =
  | 'ACCESS_DENIED'
  | 'NOT_FOUND'
  | 'IO_ERROR'
  | 'INVALID_ARGUMENT'
  | 'NOT_UNIQUE'
  | 'BINARY_FILE'
  | 'BLOCKED'
  | 'TIMEOUT'
  | 'NEEDS_CONFIRMATION';

/** The contract's code for each code of the tools, the gate and the queue. Every other code is an `IO_ERROR`. */
const codes: Readonly<Record<string, Code>> = {
  EINVALIDARGS: 'INVALID_ARGUMENT',
  EREFERENCE: 'INVALID_ARGUMENT',
  EINVAL: 'INVALID_ARGUMENT',
  ENAMETOOLONG: 'INVALID_ARGUMENT',
  ERANGE: 'INVALID_ARGUMENT',
  EISDIR: 'INVALID_ARGUMENT',
  ENOTDIR: 'INVALID_ARGUMENT',
  EGLOBINVALID: 'INVALID_ARGUMENT',
  EINVALIDPATTERN: 'INVALID_ARGUMENT',
  EINVALIDTYPE: 'INVALID_ARGUMENT',
  EURLINVALID: 'INVALID_ARGUMENT',
  ENOMODEL: 'INVALID_ARGUMENT',
  EUNKNOWNTOOL: 'NOT_FOUND',
  EUNKNOWNTOOLSET: 'NOT_FOUND',
  ENOENT: 'NOT_FOUND',
  ENOMATCH: 'NOT_FOUND',
  ENOTASK: 'NOT_FOUND',
  EMULTIPLE: 'NOT_UNIQUE',
  EBINARY: 'BINARY_FILE',
  EOUTSIDE: 'ACCESS_DENIED',
  EPATHNOTALLOWED: 'ACCESS_DENIED',
  EREPOSITORY: 'ACCESS_DENIED',
  EACCES: 'ACCESS_DENIED',
  EROFS: 'ACCESS_DENIED',
  EPERMISSION: 'ACCESS_DENIED',
  ENETWORKOFF: 'ACCESS_DENIED',
  EHOSTNOTALLOWED: 'ACCESS_DENIED',
  EADDRESSREFUSED: 'ACCESS_DENIED',
  EREDIRECTREFUSED: 'ACCESS_DENIED',
  EREJECTED: 'BLOCKED',
  EEXPIRED: 'BLOCKED',
  ERESPONDED: 'BLOCKED',
  ESELFCONFIRMED: 'BLOCKED',
  ENEEDSCONFIRMATION: 'NEEDS_CONFIRMATION',
  ETIMEOUT: 'TIMEOUT',
  ETEXTTIME: 'TIMEOUT',
};

/** The gate's words for a call denied by a rule of this toolset. */
const denial = /^Not run: the rule .{1,120} of the toolset clemini denies this call(?: by now)? \((.*)\)\.$/s;

/** The contract's code and sentence of a failed call. The sentence ends with the next step. */
export function errorOf(call: Pick<SettledCall, 'tool' | 'args' | 'status' | 'error'>): { code: Code; text: string } {
  const { error = { code: '', message: `The call ended as ${call.status}.` } } = call;
  const [, blocked] = denial.exec(error.message) ?? [];
  if (blocked !== undefined) return { code: 'BLOCKED', text: joined(`Command blocked: ${blocked}`, error.next) };
  return { code: codeOf(call.status, error.code), text: sentence(call.tool, call.args, error) };
}

function codeOf(status: SettledStatus, code: string): Code {
  switch (status) {
    case 'rejected':
    case 'expired':
      return 'BLOCKED';
    case 'timed_out':
      return 'TIMEOUT';
    case 'killed':
    case 'canceled':
    case 'indeterminate':
    case 'undone':
      return 'IO_ERROR';
    case 'succeeded':
    case 'failed':
      return (Object.hasOwn(codes, code) ? codes[code] : undefined) ?? 'IO_ERROR';
    default:
      return status satisfies never;
  }
}

/** The contract's own sentence, if any, with the path in the caller's words. */
function sentence(tool: string, args: Json, { code, message, next }: Problem): string {
  const path = textOf(args, 'file_path');
  if (code === 'EBINARY' && path !== undefined) {
    return `${path} is a binary file, not text. Look into it with bash, such as file, xxd or strings.`;
  }
  const directory = textOf(args, 'directory') ?? textOf(args, 'working_directory');
  switch (code) {
    case 'EOUTSIDE':
      return joined(`Access denied: ${path ?? directory ?? '.'} is outside allowed paths.`, next);
    case 'ENOENT':
      if (path !== undefined) {
        return `File not found: ${path}. Check that the file exists or use glob to search.`;
      }
      return `Directory not found: ${directory ?? '.'}. Check that it exists or use glob to search.`;
    case 'ENEEDSCONFIRMATION':
      // The message already has the next step.
      return message;
    case 'ENOTASK':
      return joined(`Task not found: ${textOf(args, 'task_id') ?? ''}.`, next);
    default:
      if (isOfModel(code)) return joined(`The page was fetched, but the model gave no answer: ${message}`, next);
      return joined(tool === 'web_fetch' && !isRefused(code) ? `Failed to fetch URL: ${message}` : message, next);
  }
}

const isOfModel = (code: string): boolean => code.startsWith('EMODEL') || code === 'ECOSTUNKNOWN';

/** Refused before anything was requested, or by a person. */
const isRefused = (code: string): boolean =>
  ['EINVALIDARGS', 'ENOMODEL', 'EREJECTED', 'EEXPIRED', 'ERESPONDED', 'EPERMISSION'].includes(code);

const joined = (message: string, next: string | undefined): string =>
  next === undefined ? message : `${/[.!?]$/.test(message) ? message : `${message}.`} ${next}`;

function textOf(args: Json, name: string): string | undefined {
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return undefined;
  const value = args[name];
  return typeof value === 'string' ? value : undefined;
}
