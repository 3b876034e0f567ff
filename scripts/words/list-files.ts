import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';

/** Files of the working tree that git tracks or does not ignore, as paths below `directory`. */
export function listFiles(directory: string): string[] {
  const options = ['--cached', '--others', '--exclude-standard', '-z'];
  const listed = execFileSync('git', ['-C', directory, 'ls-files', ...options], { encoding: 'utf8' });
  return listed.split('\0').filter((file) => file !== '' && existsSync(`${directory}/${file}`));
}
