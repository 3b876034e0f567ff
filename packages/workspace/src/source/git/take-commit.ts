import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { errnoOf, WorkspaceError } from '../../errors.ts';
import { writeDurably } from '../../files/index.ts';
import { bigFileFlags, type Git, type GitOptions, pipeInput } from '../../host-git/git.ts';
import type { RunFolder } from '../../run-folder/index.ts';
import { writePack, writeRef } from '../../store/objects/index.ts';
import { packPlainCommit } from './plain-object.ts';
import { asOwner, type Repository, rethrowBroken } from './repository.ts';

interface Command {
  args: readonly string[];
  options?: GitOptions;
  /** Throws the caller's error when this half fails. @default its own error */
  failed?: (error: unknown) => never;
}

/**
 * Pipes objects from `pack-objects` in one repository to `index-pack` in another. Unlike `fetch`, each half runs as the owner of its
 * repository, who cannot read the other repository, and git needs no transport.
 * @param input.revs the revisions to pack, a line each
 */
export async function pipePack(git: Git, input: { pack: Command; index: Command; revs: string }): Promise<void> {
  const pack = git.stream([...bigFileFlags, ...input.pack.args], input.pack.options);
  pack.stdin.on('error', () => {});
  pack.stdin.end(input.revs);
  const index = git.stream([...bigFileFlags, ...input.index.args], input.index.options);
  index.stdout.resume();
  pipeInput(pack.stdout, index.stdin);
  // Without a reader, pack-objects would wait for ever.
  index.done.catch(() => pack.kill());
  const [packed, indexed] = await Promise.allSettled([pack.done, index.done]);
  // The first failure says more: index-pack fails on a truncated pack, and pack-objects is killed when index-pack fails.
  if (packed.status === 'rejected' && !isKilled(packed.reason)) fail(input.pack, packed.reason);
  if (indexed.status === 'rejected') fail(input.index, indexed.reason);
  if (packed.status === 'rejected') fail(input.pack, packed.reason);
}

function fail({ failed }: Command, error: unknown): never {
  failed?.(error);
  throw error;
}

const isKilled = (error: unknown): boolean =>
  error instanceof WorkspaceError &&
  error.cause instanceof Error &&
  'signal' in error.cause &&
  error.cause.signal !== undefined;

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
