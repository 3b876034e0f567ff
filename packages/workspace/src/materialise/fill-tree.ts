import { statSync } from 'node:fs';
import type { Deps, Materialised } from '../deps.ts';
import type { Place, Written } from '../drivers/port.ts';
import { findShared, importTree } from '../drivers/trees.ts';
import { createYielder } from '../files/index.ts';
import { type Ancestry, commitsAsked, takeHistory } from '../repository/index.ts';
import type { Skipped } from '../run-folder/index.ts';
import { extractArchive } from '../source/archive/extract-archive.ts';
import { assertUnchanged } from '../source/git/repository.ts';
import { bytesDone, createSelection, fileDone, type ImportContext, selectAll } from '../source/import-context.ts';
import { emptyFolders, hashTree } from '../store/objects/index.ts';
import { compact, hashOnly } from '../tree/index.ts';
import { createLearner } from '../tree/learner.ts';
import { type Commit, describeCommit, findLfsPointers, type GitFound, readCommitTree, takeTree } from './check-out.ts';
import { checkOutFiles } from './check-out-files.ts';
import { type Copied, type Copy, copyDirectory } from './copy-directory.ts';
import type { ImportSettings } from './import/import-job.ts';
import { Importer } from './import/importer.ts';
import { type Fill, scanTree, scanUnstored } from './scan-unstored.ts';
import { watchSpace } from './watch-space.ts';

export interface Filled extends Omit<Copied, 'unstored'> {
  /** Id of the tree of `root`. */
  readonly tree: string;
  /** Content of the workspace impossible in the snapshot. */
  readonly unstored: ReadonlyMap<string, Skipped>;
  readonly submodules: Materialised['submodules'];
  readonly lfs_pointers?: Materialised['lfs_pointers'];
  /** Content of the commit of a git source. */
  readonly commit?: Buffer;
  readonly history?: Ancestry | undefined;
}

/** Gives the run its tree with the source's files, and their objects. All objects are on disk at the return. */
export async function fillTree(deps: Deps, fill: Fill): Promise<Filled> {
  const { found } = fill;
  const context = createContext(deps, fill);
  switch (found.type) {
    case 'empty':
      return await unpack(deps, { fill, context }, async () => {});
    case 'archive': {
      using from = deps.bounds.open(found.path, 'source');
      const { signal } = fill;
      return await unpack(deps, { fill, context }, (own, to) => extractArchive(own, { from: from.path, to, signal }));
    }
    case 'directory': {
      using from = deps.bounds.open(found.path, 'source');
      const { dev, ino } = statSync(deps.dataDir, { bigint: true });
      const input = { fill, context, from: from.path, without: { dev, ino } };
      return (await recallDirectory(deps, input)) ?? (await fillFromDirectory(deps, input));
    }
    case 'git':
      return await fillFromGit(deps, { fill, context, found });
    default:
      throw found satisfies never;
  }
}

function createContext(deps: Deps, fill: Fill): ImportContext {
  return {
    owner: fill.owner,
    maybeYield: createYielder(fill.signal),
    limits: deps.limits,
    selection: fill.source.type === 'empty' ? selectAll : createSelection(fill.source),
    skipped: fill.skipped,
    onProgress: fill.onProgress ?? (() => {}),
    onPoint: deps.onPoint,
    entries: 0,
    bytes: 0,
    done: { files: 0, bytes: 0 },
    due: performance.now(),
  };
}

async function createImporter(
  deps: Deps,
  { fill, context }: { fill: Fill; context: ImportContext },
  settings: Pick<ImportSettings, 'owner' | 'learns'> & { stores: boolean },
): Promise<Importer> {
  const { folder, pool, signal } = fill;
  const pack = {
    gitDir: settings.stores ? folder.shadow : undefined,
    reuse: settings.stores ? ((await pool?.packs()) ?? []) : [],
    space: { dataDir: deps.dataDir, limits: { freeBytes: deps.limits.freeBytes } },
  };
  const onFiles = (files: number, bytes: number) => {
    for (let one = 0; one < files; one++) fileDone(context);
    bytesDone(context, bytes);
  };
  const { owner, learns } = settings;
  const { fileBytes } = deps.limits;
  return new Importer({ pack, owner, learns, fileBytes }, { maybeYield: context.maybeYield, onFiles, signal });
}

interface DirectoryInput {
  fill: Fill;
  context: ImportContext;
  from: string;
  without: Copy['without'];
}

/** Gives the run the shared files of the source's content: only files with changes since the last read are read. */
async function recallDirectory(deps: Deps, input: DirectoryInput): Promise<Filled | undefined> {
  const { fill, from, without } = input;
  const { pool, folder, tenant, owner } = fill;
  const stats = await pool?.recall();
  if (
    pool === undefined ||
    stats === undefined ||
    (await findShared(deps, { tenant, ...stats.content })) === undefined
  ) {
    return undefined;
  }
  const skipped: Fill['skipped'] = new Map();
  const context: ImportContext = { ...input.context, skipped, onPoint: () => {}, done: { files: 0, bytes: 0 } };
  await using importer = await createImporter(
    deps,
    { fill, context },
    { owner: undefined, learns: 'source', stores: false },
  );
  const copy = { ...context, importer, without, content: hashOnly, known: stats.known, learn: stats.learn };
  const copied = await copyDirectory(copy, { from, to: undefined });
  if (copied.unstored.length > 0) return undefined;
  const content = contentOf(copied, await hashTree(copied.root));
  const shared = await findShared(deps, { tenant, ...content });
  if (shared === undefined || !(await pool.link(content.tree, folder.shadow))) return undefined;
  await shared.makeTree({ folder, owner, root: copied.root });
  for (const [path, reason] of skipped) fill.skipped.set(path, reason);
  await stats.save(content);
  return { ...copied, tree: content.tree, unstored: new Map(), submodules: [] };
}

const contentOf = ({ root, permissions }: Pick<Copied, 'root' | 'permissions'>, tree: string) => ({
  ...{ tree, permissions: compact(root, permissions), empty: emptyFolders(root) },
});

async function fillFromDirectory(deps: Deps, { fill, context, from, without }: DirectoryInput): Promise<Filled> {
  const { folder, pool } = fill;
  const learner = createLearner(folder);
  const sources = await pool?.learn();
  const { copied, content } = await into(deps, fill, async ({ to, owner, isShared }) => {
    const settings = { owner, learns: isShared ? 'source' : 'copy', stores: true } as const;
    await using importer = await createImporter(deps, { fill, context }, settings);
    const learn = isShared ? (sources?.learn ?? (() => {})) : learner.add;
    const copy: Copy = { ...context, owner, importer, without, content: fill.content, learn };
    const found = await copyDirectory(copy, { from, to });
    deps.onPoint('materialise.copied');
    const scanned = await scanUnstored(deps, { fill, copied: found, to });
    const tree = await fill.content.root(scanned.root);
    const isSame = (await pool?.link(tree, folder.shadow)) === true;
    await importer.finish(isSame);
    if (!isSame) await keepObjects(fill, tree);
    return { copied: scanned, content: contentOf(scanned, tree), isStored: scanned.unstored.size === 0 };
  });
  learner.settle(deps.states.of(folder).stats);
  await sources?.save(content);
  return { ...copied, tree: content.tree, submodules: [] };
}

/** Ends the packs of the run with nothing but the files of the source, and keeps them for other runs. */
async function keepObjects({ content, pool, folder }: Fill, tree: string): Promise<void> {
  await content.flush();
  await pool?.keep(tree, folder.shadow);
}

async function fillFromGit(
  deps: Deps,
  input: { fill: Fill; context: ImportContext; found: GitFound },
): Promise<Filled> {
  const { fill, context, found } = input;
  const { folder, pool, owner, tenant } = fill;
  using space = watchSpace(deps, fill.signal);
  const { signal } = space;
  const commit = await readCommitTree(deps, { found, context, signal });
  const { repository } = found;
  const asked = {
    folder,
    repository,
    commit: { ...commit, id: found.commit },
    commits: commitsAsked(fill.source),
    pool,
  };
  const history = takeHistory(deps, { ...asked, ...(signal && { signal }) });
  // Awaited below.
  history.catch(() => {});
  const isLinked = (await pool?.link(commit.tree, folder.shadow)) === true;
  const tree = commit.root.oid ?? (await fill.content.root(commit.root));
  const content = contentOf({ root: commit.root, permissions: new Map() }, tree);
  // Awaited below. Before they are here, folders are made for the files.
  const objects = isLinked ? Promise.resolve() : takeTree(deps, { found, commit, gitDir: folder.shadow, signal });
  objects.catch(() => {});
  // Shared files are possible in a snapshot.
  const isStorable = describeCommit(commit, deps.limits.fileBytes).unstored.length === 0;
  const mayShare = commit.root.oid !== null && isStorable;
  const shared = mayShare ? await findShared(deps, { tenant, ...content }) : undefined;
  let copied: Copied;
  try {
    if (shared === undefined) copied = await checkOutTree(deps, { fill, context, commit, tree, objects, signal });
    else {
      await shared.makeTree({ folder, owner, root: commit.root });
      copied = describeCommit(commit, Number.POSITIVE_INFINITY);
    }
  } finally {
    // git writes into the folder of the run until then.
    await Promise.allSettled([objects]);
  }
  await objects;
  const ancestry = await history;
  await assertUnchanged(deps, repository);
  deps.onPoint('materialise.fetched');
  const { unstored, ...rest } = await scanUnstored(deps, { fill, copied, to: folder.tree });
  if (isLinked) await fill.content.flush();
  else await keepObjects(fill, commit.tree);
  const { submodules, content: source } = commit;
  const lfs_pointers = await findLfsPointers(deps, { found, ...commit, signal });
  return { ...rest, tree, unstored, submodules, lfs_pointers, commit: source, history: ancestry };
}

async function checkOutTree(
  deps: Deps,
  input: {
    fill: Fill;
    context: ImportContext;
    commit: Commit;
    tree: string;
    objects: Promise<unknown>;
    signal: AbortSignal;
  },
): Promise<Copied> {
  const { fill, context, commit, tree, objects, signal } = input;
  const { folder } = fill;
  const learner = createLearner(folder);
  const copied = describeCommit(commit, deps.limits.fileBytes);
  await into(deps, fill, async ({ to, owner, isShared }) => {
    const learn = isShared ? undefined : learner.add;
    const place = { to, owner, objects, temporary: folder.path, gitDir: folder.shadow };
    await checkOutFiles(deps, { ...place, root: commit.root, context, learn, signal });
    return { copied, content: contentOf(copied, tree), isStored: copied.unstored.length === 0 };
  });
  learner.settle(deps.states.of(folder).stats);
  return copied;
}

const into = <Result extends Written>(
  deps: Deps,
  { folder, owner, tenant }: Fill,
  write: (place: Place) => Promise<Result>,
): Promise<Result> => importTree(deps, { folder, owner, tenant, write });

/** Files from a stream: they are written first, and read from there. */
async function unpack(
  deps: Deps,
  { fill, context }: { fill: Fill; context: ImportContext },
  write: (context: ImportContext, to: string) => Promise<void>,
): Promise<Filled> {
  const { copied, content } = await into(deps, fill, async ({ to, owner }: Place) => {
    await write({ ...context, owner }, to);
    const scanned = await scanTree(deps, { fill, to });
    const tree = await fill.content.root(scanned.root);
    await fill.content.flush();
    return { copied: scanned, content: contentOf(scanned, tree), isStored: scanned.unstored.size === 0 };
  });
  return { ...copied, tree: content.tree, submodules: [] };
}
