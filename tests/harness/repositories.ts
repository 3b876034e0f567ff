import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

/** Runs git without the configuration of the machine or its user. */
export async function git(cwd: string, ...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)('git', args, {
    cwd,
    env: {
      PATH: process.env.PATH ?? '',
      HOME: cwd,
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_AUTHOR_NAME: 'Test',
      GIT_AUTHOR_EMAIL: 'test@localhost',
      GIT_COMMITTER_NAME: 'Test',
      GIT_COMMITTER_EMAIL: 'test@localhost',
    },
  });
  return stdout.trim();
}

/** A new directory below `parent` with these files. */
export async function directoryWith(files: Record<string, string>, parent = tmpdir()): Promise<string> {
  const directory = await mkdtemp(join(parent, 'hp-source-'));
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(directory, name)), { recursive: true });
    await writeFile(join(directory, name), content);
  }
  return directory;
}

export async function repositoryWith(files: Record<string, string>, parent?: string): Promise<string> {
  const directory = await directoryWith(files, parent);
  await git(directory, 'init', '-q', '-b', 'main');
  await git(directory, 'add', '-A');
  await git(directory, 'commit', '-q', '-m', 'initial');
  return directory;
}
