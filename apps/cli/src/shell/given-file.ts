import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { CliError, type CliErrorCode } from './errors.ts';

/**
 * Reads a file named by a person, before anything is sent.
 *
 * @param file a path relative to `cwd`
 * @throws CliError of the code, `usage` by default, with the reason in plain words
 */
export async function readGivenFile(
  cwd: string,
  file: string,
  { code, next }: { code: CliErrorCode; next?: string } = { code: 'usage', next: 'Check the path; nothing was sent.' },
): Promise<Buffer> {
  return readFile(resolve(cwd, file)).catch((cause: NodeJS.ErrnoException) => {
    const message = reasons[cause.code ?? '']?.(file) ?? `${file} cannot be read: ${cause.message}`;
    throw new CliError(code, message, { cause, ...(next !== undefined && { next }) });
  });
}

/** Reads a text file unchanged, including a byte order mark. @throws CliError `usage` */
export async function readText(cwd: string, file: string): Promise<string> {
  const content = await readGivenFile(cwd, file);
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content);
  } catch (cause) {
    throw new CliError('usage', `${file} is not UTF-8 text.`, { cause });
  }
}

const reasons: Record<string, (file: string) => string> = {
  ENOENT: (file) => `There is no file ${file}.`,
  ENOTDIR: (file) => `There is no file ${file}.`,
  EISDIR: (file) => `${file} is a folder, not a file.`,
  EACCES: (file) => `You may not read ${file}.`,
};
