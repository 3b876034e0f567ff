import { posix } from 'node:path';
import { relativePath } from '../../operations/touched.ts';

const root = '/workspace';
const refusal = 'holdpoint: the working directory is missing or not allowed';
const refusedCode = 125;

/** The shell line of a command in the background: the line prints to a single stream, and changes to its directory first. */
export function backgroundLine({
  command,
  working_directory = '.',
  directories,
}: {
  command: string;
  working_directory?: string | undefined;
  directories: readonly string[];
}): string {
  const lines = ['exec 2>&1'];
  if (working_directory !== '.' || !directories.map(relativePath).includes('.')) {
    const allowed = directories.map((one) => `${quote(posix.resolve(root, one))}/*`).join('|');
    const refuse = `{ echo ${quote(refusal)}; exit ${refusedCode}; }`;
    lines.push(
      `cd -P -- ${quote(posix.resolve(root, working_directory))} 2>/dev/null || ${refuse}`,
      `case "$PWD/" in ${allowed}) ;; *) ${refuse};; esac`,
    );
  }
  return [...lines, command].join('\n');
}

/** Whether the command never began. */
export const refusedDirectory = ({ exit_code, output }: { exit_code: number | null; output: string }): boolean =>
  exit_code === refusedCode && output === `${refusal}\n`;

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
