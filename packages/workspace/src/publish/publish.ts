import { cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PublishPlan } from '@holdpoint/contract';
import type { Deps, PublishRequest, PublishResult, RunFolder, WorkspaceRecord } from '../deps.ts';
import { WorkspaceError } from '../errors.ts';
import { removeFolder } from '../files/index.ts';
import { requireRecord, runFolder, temporaryPath } from '../run-folder/index.ts';
import { createShadow } from '../store/shadow.ts';
import { createRunStates } from '../tree/index.ts';
import { readJournal } from './directory/journal-step.ts';
import { openTarget } from './directory/open-target.ts';
import { planDirectory } from './directory/plan-directory.ts';
import { publishDirectory, recoverPublish } from './directory/publish-directory.ts';
import { planGit } from './git/plan-git.ts';
import { publishGit } from './git/publish-git.ts';

/**
 * Plans the publish of the changes base..snapshot and keeps the objects of the plan in the shadow repository, for the later publish.
 * Finishes an interrupted publish first.
 */
export async function planPublish(deps: Deps, request: PublishRequest): Promise<PublishPlan> {
  const folder = runFolder(deps.dataDir, request.runId);
  const record = requireRecord(folder);
  if (record.source.type === 'directory') await recoverPublish(deps, { folder, record });
  return plan(deps, { folder, record, ...request });
}

/**
 * Makes the same plan, and writes nothing outside a temporary repository with borrowed objects of the shadow repository. Throws
 * `ESOURCEBUSY` after an interrupted publish, because only a worker may finish it.
 */
export async function previewPublish(deps: Deps, request: PublishRequest): Promise<PublishPlan> {
  const folder = runFolder(deps.dataDir, request.runId);
  const record = requireRecord(folder);
  if (readJournal(folder) !== undefined) {
    throw new WorkspaceError('ESOURCEBUSY', `A publish of ${request.runId} has begun and is not finished.`);
  }
  return withBorrowedShadow(deps, folder, (aside, borrowed) => plan(aside, { folder: borrowed, record, ...request }));
}

async function plan(
  deps: Deps,
  input: PublishRequest & { folder: RunFolder; record: WorkspaceRecord },
): Promise<PublishPlan> {
  const { source } = input.record;
  switch (source.type) {
    case 'git':
      return (await planGit(deps, input)).plan;
    case 'directory': {
      using opened = openTarget(deps, input.record);
      return (await planDirectory(deps, { ...input, opened })).plan;
    }
    default:
      throw notPublishable(source.type);
  }
}

/** Publishes, if the current plan has the caller's expected digest. */
export async function publish(deps: Deps, request: PublishRequest & { expect: string }): Promise<PublishResult> {
  const folder = runFolder(deps.dataDir, request.runId);
  const record = requireRecord(folder);
  switch (record.source.type) {
    case 'git':
      return publishGit(deps, { folder, record, ...request });
    case 'directory':
      return publishDirectory(deps, { folder, record, ...request });
    default:
      throw notPublishable(record.source.type);
  }
}

const notPublishable = (source: 'empty' | 'archive'): WorkspaceError =>
  new WorkspaceError(
    'ENOTPUBLISHABLE',
    source === 'empty'
      ? 'The workspace has no source to publish to: it started empty.'
      : 'The workspace started from an archive, and archives are not rewritten.',
  );

/**
 * Works on a repository with a run's shadow repository as its source of objects, and writes to its own objects. The repository is removed
 * afterwards; after the death of the process, the next process removes the repository together with unfinished workspaces.
 */
export async function withBorrowedShadow<Result>(
  deps: Deps,
  folder: RunFolder,
  act: (deps: Deps, folder: RunFolder) => Promise<Result>,
): Promise<Result> {
  const path = temporaryPath(deps, folder.runId);
  const borrowed = { ...folder, shadow: join(path, 'shadow.git') };
  mkdirSync(path, { recursive: true, mode: 0o700 });
  try {
    await createShadow(borrowed);
    mkdirSync(join(borrowed.shadow, 'objects', 'info'), { recursive: true });
    writeFileSync(join(borrowed.shadow, 'objects', 'info', 'alternates'), `${join(folder.shadow, 'objects')}\n`);
    for (const name of ['refs', 'shallow', 'snapshots'].filter((one) => existsSync(join(folder.shadow, one)))) {
      cpSync(join(folder.shadow, name), join(borrowed.shadow, name), { recursive: true });
    }
    // The run's own state must not list objects of this temporary repository.
    return await act({ ...deps, states: createRunStates() }, borrowed);
  } finally {
    await removeFolder(path);
  }
}
