import type { Json, SettledCall } from '@holdpoint/contract';

/** The contract's code for each code of the tools, the gate and the queue. */
const codes: Readonly<Record<string, string>> = {
  EINVALIDARGS: 'invalid_parameters',
  EINVAL: 'invalid_parameters',
  ENAMETOOLONG: 'invalid_parameters',
  EUNKNOWNTOOL: 'tool_not_found',
  EUNKNOWNTOOLSET: 'tool_not_found',
  EREJECTED: 'approval_denied',
  EEXPIRED: 'approval_denied',
  EPERMISSION: 'permission_denied',
  EACCES: 'permission_denied',
  EROFS: 'permission_denied',
  EREPOSITORY: 'permission_denied',
  EOUTSIDE: 'path_outside_working_dir',
  ENOENT: 'file_not_found',
  ESPECIAL: 'file_not_found',
  ELOOP: 'file_not_found',
  EISDIR: 'is_directory',
  ENOTDIR: 'not_a_directory',
  EEXIST: 'file_exists',
  EFBIG: 'content_too_large',
  ERANGE: 'line_range_invalid',
  ENOMATCH: 'string_not_found',
  EGLOBINVALID: 'invalid_glob',
  EINVALIDGLOB: 'invalid_glob',
  EINVALIDPATTERN: 'invalid_regex',
  ENOCOMMAND: 'command_not_found',
  EEXIT: 'command_failed',
  EQUOTA: 'command_failed',
  ENOHISTORY: 'no_command_history',
  EURLINVALID: 'invalid_url',
  ENETWORK: 'network_error',
  ETOOLARGE: 'network_error',
  ENETWORKOFF: 'url_not_allowed',
  EHOSTNOTALLOWED: 'url_not_allowed',
  EADDRESSREFUSED: 'url_not_allowed',
  EREDIRECTREFUSED: 'url_not_allowed',
  ECANCELED: 'canceled',
  EKILLED: 'canceled',
};

/** Where a code means something else for a tool. */
const codesOfTools: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  list_dir: { ENOENT: 'path_not_found', ESPECIAL: 'not_a_directory' },
  file_search: { ENOENT: 'path_not_found', EINVAL: 'invalid_glob' },
  create_directory: { EEXIST: 'path_is_file', ENOTDIR: 'path_is_file' },
  fetch_webpage: { ETIMEOUT: 'request_timeout' },
};

/** The contract's error of a failed call: its code, and its sentence. */
export function errorOf({ tool, args, status, error }: SettledCall): {
  code: string;
  message: string;
  suggestion: string;
} {
  const { code = '', message = `The call ${status}`, next = 'Continue without this call.' } = error ?? {};
  return {
    code: codesOfTools[tool]?.[code] ?? codes[code] ?? byStatus(status),
    message: sentence(tool, code, args) ?? message,
    suggestion: next,
  };
}

function byStatus(status: SettledCall['status']): string {
  switch (status) {
    case 'rejected':
    case 'expired':
      return 'approval_denied';
    case 'timed_out':
      return 'command_timeout';
    case 'succeeded':
    case 'failed':
      return 'command_failed';
    default:
      return 'canceled';
  }
}

/** The exact sentence of the contract about a path in the caller's words. */
function sentence(tool: string, code: string, args: Json): string | undefined {
  const path = textOf(args, 'path') ?? textOf(args, 'base_path') ?? '.';
  switch (code) {
    case 'EOUTSIDE':
      return `Path '${path}' is outside working directory`;
    case 'ENOENT':
      return codesOfTools[tool]?.ENOENT === undefined ? `File '${path}' not found` : `Path '${path}' not found`;
    case 'EISDIR':
      return `Path '${path}' is a directory`;
    case 'ENOTDIR':
      if (tool === 'create_directory') return isFile(path);
      return tool === 'list_dir' || tool === 'file_search' ? `Path '${path}' is not a directory` : undefined;
    case 'EEXIST':
      if (tool === 'create_directory') return isFile(path);
      return `File '${path}' already exists. Use replace_string_in_file to modify`;
    case 'EACCES':
    case 'EROFS':
      return tool in denied ? `${denied[tool]?.(path)} - permission denied` : undefined;
    case 'EGLOBINVALID':
    case 'EINVALIDGLOB':
      return `Invalid glob pattern '${textOf(args, tool === 'grep_search' ? 'file_pattern' : 'pattern') ?? ''}'`;
    default:
      return undefined;
  }
}

const isFile = (path: string): string => `Path '${path}' exists as a file, cannot create directory`;

const denied: Readonly<Record<string, (path: string) => string>> = {
  create_file: (path) => `Cannot create file '${path}'`,
  read_file: (path) => `Cannot read file '${path}'`,
  replace_string_in_file: (path) => `Cannot modify file '${path}'`,
  list_dir: () => 'Cannot list directory',
  create_directory: () => 'Cannot create directory',
};

function textOf(args: Json, name: string): string | undefined {
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return undefined;
  const value = args[name];
  return typeof value === 'string' ? value : undefined;
}
