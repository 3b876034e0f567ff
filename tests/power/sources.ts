import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { git } from '../harness/repositories.ts';
import type { Files } from './cut.ts';
import type { Sources } from './stages.ts';

/** Creates a user's directories and a repository. */
export async function makeSources(root: string): Promise<Sources> {
  const small = new Map([
    ['README.md', 'read me\n'],
    ['lib/a.txt', 'one\ntwo\n'],
  ]);
  const large = new Map(Array.from({ length: 150 }, (_, index) => [`f/${index}`, `${index}\n`.repeat(30_000)]));
  const made: Sources = {
    small: { path: join(root, 'small'), files: small },
    large: { path: join(root, 'large'), files: large },
    repository: { path: join(root, 'repository'), files: small },
    published: { path: join(root, 'published'), files: small },
  };
  for (const { path, files } of Object.values(made)) await write(path, files);
  const { path } = made.repository;
  await git(path, 'init', '-q', '-b', 'main');
  await git(path, 'add', '-A');
  await git(path, 'commit', '-q', '-m', 'as it was');
  return made;
}

async function write(path: string, files: Files): Promise<void> {
  for (const [name, content] of files) {
    await mkdir(dirname(join(path, name)), { recursive: true });
    await writeFile(join(path, name), content);
  }
}
