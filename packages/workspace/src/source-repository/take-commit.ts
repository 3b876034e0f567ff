import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { errnoOf, WorkspaceError } from '../errors.ts';
import { writeDurably } from '../files/write-durably.ts';
import { writeRef } from '../git-objects/ref-file.ts';
import { bigFileFlags, type Git } from '../host-git/git.ts';
import type { RunFolder } from '../run/run-folder.ts';
import { broken, inside, type Repository } from './repository.ts';

/**
 * Takes one commit of the source into the run's repository, without its history: the history is not needed to publish, and can be a
 * thousand times as large. The source is only read.
 *
 * Through a pipe (`pack-objects` there, `index-pack` here) and not by `fetch`: the reading half runs as the owner of the source, who cannot
 * read the data directory, and no transport has to be allowed.
 */
export async function takeCommit(
  git: Git,
  input: { folder: RunFolder; repository: Repository; commit: string; ref: string; signal?: AbortSignal },
): Promise<void> {
  const { folder, repository, commit } = input;
  const signal = input.signal && { signal: input.signal };
  const { at, options } = inside(repository.common, repository.as);
  const packing = ['pack-objects', '--revs', '--stdout', '--delta-base-offset', '--shallow', '-q'];
  const pack = git.stream([...bigFileFlags, ...at, ...packing], { ...options, ...signal });
  pack.stdin.on('error', () => {});
  pack.stdin.end(`--shallow ${commit}\n${commit}\n`);
  const to = `--git-dir=${folder.shadow}`;
  const index = git.stream([...bigFileFlags, to, 'index-pack', '--stdin'], { ...signal });
  index.stdin.on('error', () => {});
  index.stdout.resume();
  pack.stdout.pipe(index.stdin);
  try {
    const [packed, indexed] = await Promise.allSettled([pack.done, index.done]);
    // The one without space is the reader; else the writer's own complaint says more than the pack that ended too early.
    if (indexed.status === 'rejected' && isOutOfSpace(indexed.reason)) throw indexed.reason;
    if (packed.status === 'rejected') broken(repository)(packed.reason);
    if (indexed.status === 'rejected') broken(repository)(indexed.reason);
  } finally {
    // Either would wait for the other for ever.
    pack.kill();
    index.kill();
  }
  await markShallow(folder.shadow, commit);
  await writeRef(folder.shadow, input.ref, commit);
}

const isOutOfSpace = (error: unknown): boolean => error instanceof WorkspaceError && error.code === 'ENOSPC';

/** Lets git end at the commit, whose parents are not there. */
async function markShallow(shadow: string, commit: string): Promise<void> {
  const path = join(shadow, 'shallow');
  const known = readLines(path);
  if (!known.includes(commit)) await writeDurably(path, `${[...known, commit].join('\n')}\n`, 0o644);
}

function readLines(path: string): string[] {
  try {
    return readFileSync(path, 'latin1').split('\n').slice(0, -1);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return [];
    throw error;
  }
}
