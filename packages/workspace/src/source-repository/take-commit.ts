import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { errnoOf, WorkspaceError } from '../errors.ts';
import { writeDurably } from '../files/write-durably.ts';
import { writeRef } from '../git-objects/ref-file.ts';
import { bigFileFlags, type Git } from '../host-git/git.ts';
import type { RunFolder } from '../run/run-folder.ts';
import { asOwner, type Repository, rethrowBroken } from './repository.ts';

/**
 * Copies one commit of the source into the run's repository, without its history: a publish does not need the history, which can be a
 * thousand times as large. The source is only read.
 *
 * It uses a pipe (`pack-objects` in the source, `index-pack` in the run) instead of `fetch`: the reading half runs as the owner of the
 * source, who cannot read the data directory, and git needs no transport.
 */
export async function takeCommit(
  git: Git,
  input: { folder: RunFolder; repository: Repository; commit: string; ref: string; signal?: AbortSignal },
): Promise<void> {
  const { folder, repository, commit } = input;
  const { signal } = input;
  const { at, options } = asOwner(repository);
  const packing = ['pack-objects', '--revs', '--stdout', '--delta-base-offset', '--shallow', '-q'];
  const pack = git.stream([...bigFileFlags, ...at, ...packing], { ...options, signal });
  pack.stdin.on('error', () => {});
  pack.stdin.end(`--shallow ${commit}\n${commit}\n`);
  const to = `--git-dir=${folder.shadow}`;
  const index = git.stream([...bigFileFlags, to, 'index-pack', '--stdin'], { signal });
  index.stdin.on('error', () => {});
  index.stdout.resume();
  pack.stdout.pipe(index.stdin);
  try {
    const [packed, indexed] = await Promise.allSettled([pack.done, index.done]);
    // Only the reader can run out of space. Otherwise the writer's message says more than the reader's, which got a truncated pack.
    if (indexed.status === 'rejected' && isOutOfSpace(indexed.reason)) throw indexed.reason;
    if (packed.status === 'rejected') rethrowBroken(repository)(packed.reason);
    if (indexed.status === 'rejected') rethrowBroken(repository)(indexed.reason);
  } finally {
    // Each would wait for the other for ever.
    pack.kill();
    index.kill();
  }
  await markShallow(folder.shadow, commit);
  await writeRef(folder.shadow, input.ref, commit);
}

const isOutOfSpace = (error: unknown): boolean => error instanceof WorkspaceError && error.code === 'ENOSPC';

/** Tells git that the parents of the commit are missing. */
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
