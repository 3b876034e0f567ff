import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { git, runScript } from '../real-git.ts';

/** Creates a repository with one commit of the files that a script creates. */
export function commitFolder(folder: string, script: string, name = 'repo'): string {
  const path = join(folder, name);
  mkdirSync(path, { recursive: true });
  git(path, ['init', '-q', '-b', 'main']);
  runScript(path, script);
  git(path, ['add', '-A']);
  git(path, ['commit', '-q', '-m', 'begin']);
  return path;
}
