import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { errnoOf } from '../../errors.ts';
import { writeDurably } from '../../files/index.ts';
import type { Git } from '../../host-git/git.ts';
import type { RunFolder } from '../../run-folder/index.ts';
import { writePack, writeRef } from '../../store/objects/index.ts';
import { pipePack } from './pipe-pack.ts';
import { packPlainCommit } from './plain-object.ts';
import { asOwner, type Repository, rethrowBroken } from './repository.ts';

/** The objects that the run's repository has are known, so a small change of a branch is copied without a program. */
interface Taken {
  folder: RunFolder;
  repository: Repository;
  commit: string;
  known: ReadonlySet<string>;
  signal?: AbortSignal;
}

/**
 * Copies a single commit of the source into the run's repository, without its history: a publish does not need the history, possibly a
 * thousand times as large. The source is only read.
 */
export async function takeCommit(git: Git, input: Taken & { ref: string }): Promise<void> {
  const { folder, commit } = input;
  const packed = await packPlainCommit(input.repository, input);
  if (packed === undefined) await copyByGit(git, input);
  else if (packed.length > 0) await writePack(folder.shadow, packed);
  await markShallow(folder.shadow, commit);
  await writeRef(folder.shadow, input.ref, commit);
}

async function copyByGit(git: Git, { folder, repository, commit, signal }: Taken): Promise<void> {
  const { at, options } = asOwner(repository);
  const packing = ['pack-objects', '--revs', '--stdout', '--delta-base-offset', '--shallow', '-q'];
  await pipePack(git, {
    pack: { args: [...at, ...packing], options: { ...options, signal } },
    index: { args: [`--git-dir=${folder.shadow}`, 'index-pack', '--stdin'], options: { signal } },
    revs: `--shallow ${commit}\n${commit}\n`,
  }).catch(rethrowBroken(repository));
}

/** Marks the parents of the commit as missing. */
export async function markShallow(shadow: string, commit: string): Promise<void> {
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
