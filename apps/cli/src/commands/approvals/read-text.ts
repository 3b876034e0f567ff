import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { CliError } from '../../shell/index.ts';

/** Reads a text file unchanged, including a byte order mark. @throws CliError `usage` */
export async function readText(cwd: string, file: string): Promise<string> {
  const content = await readFile(resolve(cwd, file)).catch((cause: unknown) => {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new CliError('usage', `${file} cannot be read: ${reason}`, { cause });
  });
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content);
  } catch (cause) {
    throw new CliError('usage', `${file} is not UTF-8 text.`, { cause });
  }
}
