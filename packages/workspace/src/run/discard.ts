import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { type Deps, errnoOf } from '../deps.ts';
import { removeTrees } from '../drivers/trees.ts';
import { syncPath, type Yielder } from '../files/index.ts';
import { recoverPublish } from '../publish/directory/publish-directory.ts';
import { removePublishRef } from '../publish/git/publish-git.ts';
import { readRecord, runFolder } from '../run-folder/index.ts';

/** Holds run folders while they are removed. */
export const discardingFolder = (dataDir: string): string => join(dataDir, 'discarding');

/**
 * Removes the run's tree and shadow repository. A single rename moves the whole folder away; the next call, or maintenance, finishes a
 * removal interrupted after the rename. A large tree is removed in the background.
 */
export async function discard(deps: Deps, runId: string): Promise<void> {
  const folder = runFolder(deps.dataDir, runId);
  const discarding = discardingFolder(deps.dataDir);
  mkdirSync(discarding, { recursive: true, mode: 0o700 });
  const left = readdirSync(discarding).filter((name) => runOf(name) === runId);
  const removals = left.map((name) => removeInBackground(deps, join(discarding, name)));
  const record = readRecord(folder);
  // The journal is removed too, and only the journal can complete a half-published source.
  if (record !== undefined) {
    await recoverPublish(deps, { folder, record });
    await removePublishRef(deps, { folder, record });
  }
  deps.states.drop(runId);
  const moved = join(discarding, left.length === 0 ? runId : `${runId}.${randomBytes(6).toString('hex')}`);
  if (renameRun(folder.path, moved)) {
    await syncPath(join(deps.dataDir, 'runs'));
    deps.onPoint('discard.moved');
    removals.push(removeInBackground(deps, moved));
  }
  await Promise.all(removals.map(({ answered }) => answered));
}

/** The run of a folder in `discarding`. */
export const runOf = (name: string): string => name.split('.')[0] ?? '';

function renameRun(from: string, to: string): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return false;
    throw error;
  }
}

/** A smaller tree is gone when the call returns. They take about 0.2 s. */
const entriesAtOnce = 5000;

interface Removal {
  /** Never rejected: maintenance finishes the rest. */
  readonly gone: Promise<void>;
  /** Settled when the rest is left to the background. */
  readonly answered: Promise<void>;
}

/** Removals of this process, by path. */
const active = new Map<string, Removal>();

/** Removes a folder of a discarded run, and resolves when nothing is left. */
export async function removeNow(deps: Pick<Deps, 'logger'>, path: string): Promise<void> {
  // A removal in the background does not keep the process alive, so this wait does.
  const alive = setInterval(() => {}, 60_000);
  try {
    await removeInBackground(deps, path).gone;
  } finally {
    clearInterval(alive);
  }
}

/** The process may end before a large folder is gone. */
function removeInBackground(deps: Pick<Deps, 'logger'>, path: string): Removal {
  const running = active.get(path);
  if (running !== undefined) return running;
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
  const gone = removeTrees(path, createPacer(answer))
    .catch((error: unknown) => {
      deps.logger.warn({ path, err: error }, 'failed to remove a discarded workspace, will retry');
    })
    .finally(() => {
      active.delete(path);
      answer();
    });
  const removal = { gone, answered };
  active.set(path, removal);
  return removal;
}

/** Stretch of work, ms. */
const stretchMs = 10;

/** While the caller waits, other work runs in between. Afterwards all removals together take half of the time at most. */
function createPacer(answer: () => void): Yielder {
  let since = performance.now();
  let entries = 0;
  const next = () => {
    since = performance.now();
  };
  return () => {
    entries += 1;
    if (entries === entriesAtOnce) answer();
    if (performance.now() - since < stretchMs) return undefined;
    if (entries < entriesAtOnce) return setImmediate().then(next);
    // A process without other work ends, and maintenance continues the removal.
    return setTimeout(stretchMs * active.size, undefined, { ref: false }).then(next);
  };
}
