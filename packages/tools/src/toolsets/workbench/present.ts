import type { FileErrorCode, Json, SettledCall, SettledStatus } from '@holdpoint/contract';

/** The mistake of a call, in the contract's words. */
type Code =
  | 'INVALID_ARGS'
  | 'INVALID_PATH'
  | 'FILE_NOT_FOUND'
  | 'ALREADY_EXISTS'
  | 'DIRECTORY_NOT_EMPTY'
  | 'NOT_A_DIRECTORY'
  | 'IS_A_DIRECTORY'
  | 'PERMISSION_DENIED'
  | 'APPROVAL_DENIED'
  | 'TOOL_NOT_FOUND'
  | 'NETWORK_ERROR'
  | 'TIMEOUT'
  | 'EXECUTION_ERROR';

/** `{ok: true, value}`, or `{ok: false, error: {code, message, details}}`, whatever settled the call. */
export function presentWorkbench({ tool, status, value, error, times }: SettledCall): Json {
  if (status === 'succeeded') return { ok: true, value: withDuration(tool, value ?? null, times.duration_ms) };
  const { code: reason = status, message = `The call ended as ${status}.`, next } = error ?? {};
  const details = { reason, ...(next && { next }), ...(value !== undefined && { value }) };
  return { ok: false, error: { code: codeOf(status, reason), message, details } };
}

/** The stored value has no time, or equal calls would never look equal. */
function withDuration(tool: string, value: Json, duration: number): Json {
  if (tool !== 'run_code' || typeof value !== 'object' || value === null || !('exitCode' in value)) return value;
  return { ...value, duration };
}

function codeOf(status: Exclude<SettledStatus, 'succeeded'>, reason: string): Code {
  switch (status) {
    // A person, a policy, or the person's edited arguments.
    case 'rejected':
      return codes.get(reason) ?? 'APPROVAL_DENIED';
    case 'expired':
      return 'APPROVAL_DENIED';
    case 'timed_out':
      return 'TIMEOUT';
    case 'killed':
    case 'canceled':
    case 'indeterminate':
    case 'undone':
      return 'EXECUTION_ERROR';
    case 'failed':
      return codes.get(reason) ?? 'EXECUTION_ERROR';
    default:
      return status satisfies never;
  }
}

const ofFiles: Record<FileErrorCode, Code> = {
  ENOENT: 'FILE_NOT_FOUND',
  EOUTSIDE: 'INVALID_PATH',
  EREPOSITORY: 'PERMISSION_DENIED',
  EISDIR: 'IS_A_DIRECTORY',
  ENOTDIR: 'NOT_A_DIRECTORY',
  EEXIST: 'ALREADY_EXISTS',
  ENOTEMPTY: 'DIRECTORY_NOT_EMPTY',
  EGLOBINVALID: 'INVALID_ARGS',
  ECHANGED: 'EXECUTION_ERROR',
  EACCES: 'PERMISSION_DENIED',
  EROFS: 'PERMISSION_DENIED',
  ESPECIAL: 'INVALID_PATH',
  EFBIG: 'EXECUTION_ERROR',
  EINVAL: 'INVALID_PATH',
  ENAMETOOLONG: 'INVALID_PATH',
  ELOOP: 'INVALID_PATH',
  ENOSPC: 'EXECUTION_ERROR',
};

/** Codes of the gate, of the network and of tools. Every other code is an `EXECUTION_ERROR`. */
const ofCalls = {
  EINVALIDARGS: 'INVALID_ARGS',
  EREFERENCE: 'INVALID_ARGS',
  EUNKNOWNTOOL: 'TOOL_NOT_FOUND',
  EUNKNOWNTOOLSET: 'TOOL_NOT_FOUND',
  EPERMISSION: 'PERMISSION_DENIED',
  EREJECTED: 'APPROVAL_DENIED',
  ERESPONDED: 'APPROVAL_DENIED',
  EEXPIRED: 'APPROVAL_DENIED',
  ETIMEOUT: 'TIMEOUT',
  ETEXTTIME: 'TIMEOUT',
  EURLINVALID: 'INVALID_ARGS',
  ENETWORKOFF: 'PERMISSION_DENIED',
  EHOSTNOTALLOWED: 'PERMISSION_DENIED',
  EADDRESSREFUSED: 'PERMISSION_DENIED',
  EREDIRECTREFUSED: 'PERMISSION_DENIED',
  ENETWORK: 'NETWORK_ERROR',
  EHTTPSTATUS: 'NETWORK_ERROR',
  ESEARCHBLOCKED: 'NETWORK_ERROR',
  ESEARCHUNREADABLE: 'NETWORK_ERROR',
} as const satisfies Record<string, Code>;

const codes = new Map<string, Code>(Object.entries({ ...ofFiles, ...ofCalls }));
