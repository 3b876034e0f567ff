import { posix } from 'node:path';
import { type Command, SandboxError } from './port.ts';

/** MAX_ARG_STRLEN of Linux: one argument with its NUL. */
const maxArgumentBytes = 128 * 1024;
/** The kernel gives arguments and environment a quarter of the usual stack (8 MiB). The sandbox needs 16 KiB of this quarter. */
const maxTotalBytes = 2 * 1024 * 1024 - 16 * 1024;
/** The worker keeps both streams in memory. */
const maxKeptBytes = 64 * 1024 * 1024;
/** The kernel counts a pointer and a NUL for each string. */
const overheadBytes = 9;

/**
 * Refuses commands no driver can run, before any process starts.
 *
 * @returns the working directory, normalised and relative to the root
 */
export function checkCommand(command: Pick<Command, 'argv' | 'cwd' | 'env' | 'kept_bytes'>): string {
  checkKept(command.kept_bytes);
  if (command.argv[0] === '') throw invalid('The program name is empty.', 'Name a program.');
  for (const argument of command.argv) {
    if (argument.includes('\0')) throw invalid('An argument contains a NUL byte.', 'Remove the NUL byte.');
    if (Buffer.byteLength(argument) >= maxArgumentBytes) {
      throw invalid(
        'An argument is longer than 128 KiB, the limit of Linux.',
        'Write the text to a file, or pass it as stdin.',
      );
    }
  }
  for (const [name, value] of Object.entries(command.env ?? {})) {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name) || value.includes('\0')) {
      throw invalid(
        `The sandbox cannot set the environment variable ${JSON.stringify(name)}.`,
        'Use letters, digits and underscores; no NUL.',
      );
    }
  }
  const words = [...command.argv, ...Object.entries(command.env ?? {}).map((entry) => entry.join('='))];
  if (words.reduce((total, word) => total + Buffer.byteLength(word) + overheadBytes, 0) > maxTotalBytes) {
    throw invalid(
      'The arguments and the environment together are longer than Linux allows.',
      'Write them to a file, or pass them as stdin.',
    );
  }
  return checkDirectory(command.cwd ?? '.');
}

function checkKept(bytes: number | undefined): void {
  if (bytes === undefined || (Number.isSafeInteger(bytes) && bytes >= 1 && bytes <= maxKeptBytes)) return;
  throw invalid(`kept_bytes is ${bytes}; it must be an integer from 1 to ${maxKeptBytes}.`, 'Correct kept_bytes.');
}

function checkDirectory(cwd: string): string {
  const relative = cwd === '/workspace' || cwd.startsWith('/workspace/') ? `.${cwd.slice('/workspace'.length)}` : cwd;
  const normal = posix.normalize(relative === '' ? '.' : relative).replace(/(.)\/$/, '$1');
  if (normal.startsWith('/') || normal === '..' || normal.startsWith('../') || normal.includes('\0')) {
    throw invalid(
      `The working directory ${JSON.stringify(cwd)} is outside the workspace.`,
      'Use a path relative to the workspace root.',
    );
  }
  return normal;
}

function invalid(message: string, next: string): SandboxError {
  return new SandboxError('ECOMMANDINVALID', message, { retryable: false, next });
}
