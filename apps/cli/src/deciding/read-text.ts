import { CliError, readGivenFile } from '../shell/index.ts';

/** Reads a text file unchanged, including a byte order mark. @throws CliError `usage` */
export async function readText(cwd: string, file: string): Promise<string> {
  const content = await readGivenFile(cwd, file);
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content);
  } catch (cause) {
    throw new CliError('usage', `${file} is not UTF-8 text.`, { cause });
  }
}
