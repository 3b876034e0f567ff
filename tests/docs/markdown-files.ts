import { execFileSync } from 'node:child_process';
import { projectDir } from '../harness/processes.ts';

/** Paths in the project of all pages, uncommitted pages included. */
export function markdownFiles(): string[] {
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.md'], {
    cwd: projectDir,
  });
  return String(listed).trim().split('\n');
}
