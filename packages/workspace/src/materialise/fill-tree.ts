import { type BigIntStats, statSync } from 'node:fs';
import type { Source } from '@holdpoint/contract';
import type { Deps, Materialised, ObjectWriter, Owner, Progress, RunFolder, SkippedPath } from '../deps.ts';
import { createYielder, openTop, setFolderOwner, toText } from '../files/index.ts';
import { type Ancestry, commitsAsked, takeHistory } from '../repository/index.ts';
import { startScan } from '../snapshot.ts';
import { assertUnchanged, readGit } from '../source-repository/repository.ts';
import { takeCommit } from '../source-repository/take-commit.ts';
import {
  checkoutTree,
  emptyFolder,
  type Folder,
  fileSystemClock,
  hashOnly,
  loadTree,
  type StatCache,
} from '../tree/index.ts';
import { extractArchive } from './archive/extract-archive.ts';
import type { FoundSource } from './check-source.ts';
import { copyDirectory } from './copy-directory.ts';
import { newCopyState } from './copy-file.ts';
import { bytesDone, countBytes, countEntry, fileDone, type ImportContext } from './import-context.ts';
import { createSelection, selectAll, selectTree } from './selection.ts';

type Found<Type extends FoundSource['type']> = Extract<FoundSource, { type: Type }>;

export interface Fill {
  readonly folder: RunFolder;
  readonly source: Source;
  readonly found: FoundSource;
  readonly owner: Owner;
  readonly writer: ObjectWriter;
  readonly skipped: Map<string, SkippedPath['reason']>;
  readonly createdAt?: number | undefined;
  readonly onProgress?: (progress: Progress) => void;
  readonly signal?: AbortSignal;
}

export interface Filled {
  /** The tree of the source's commit with its object ids; empty for other sources. */
  before: Folder;
  submodules: Materialised['submodules'];
  /** Content of the commit of a git source. */
  commit?: Buffer;
  history?: Ancestry | undefined;
}

/** Copies the source's files into the tree. */
export async function fillTree(deps: Deps, fill: Fill): Promise<Filled> {
  const { folder, found, signal } = fill;
  const owner = deps.isRoot ? fill.owner : undefined;
  using tree = openTop(folder.tree);
  setFolderOwner(tree.fd, owner, 0o700);
  const learner = createLearner(folder, deps.states.of(folder).stats);
  const context: ImportContext = {
    owner,
    maybeYield: createYielder(signal),
    limits: deps.limits,
    selection: fill.source.type === 'empty' ? selectAll : createSelection(fill.source),
    skipped: fill.skipped,
    content: fill.writer,
    learn: learner.add,
    onProgress: fill.onProgress ?? (() => {}),
    onPoint: deps.onPoint,
    entries: 0,
    bytes: 0,
    done: { files: 0, bytes: 0 },
    due: performance.now(),
  };
  switch (found.type) {
    case 'empty':
      break;
    case 'directory': {
      const { dev, ino } = statSync(deps.dataDir, { bigint: true });
      const copy = { ...context, without: { dev, ino }, state: newCopyState() };
      using from = deps.bounds.open(found.path, 'source');
      await copyDirectory(copy, { from: from.path, to: folder.tree });
      break;
    }
    case 'archive': {
      using from = deps.bounds.open(found.path, 'source');
      await extractArchive(context, { from: from.path, to: folder.tree, signal });
      break;
    }
    case 'git':
      return checkOut(deps, { folder, found, context, commits: commitsAsked(fill.source), signal });
    default:
      throw found satisfies never;
  }
  learner.settle();
  return { before: emptyFolder(), submodules: [] };
}

/** Delays `StatCache.set` until the clock has left the tick in which a file was written. */
function createLearner(folder: RunFolder, stats: StatCache) {
  const settleAt = 1000;
  let waiting: { path: string; status: BigIntStats; oid: string }[] = [];
  const settle = () => {
    const clock = fileSystemClock(folder);
    const young = waiting.filter(({ status }) => status.ctimeNs >= clock);
    for (const { path, status, oid } of waiting) if (status.ctimeNs < clock) stats.set(path, status, oid, clock);
    waiting = young;
  };
  const add: ImportContext['learn'] = (path, status, oid) => {
    waiting.push({ path, status, oid });
    if (waiting.length % settleAt === 0) settle();
  };
  return { add, settle };
}

async function checkOut(
  deps: Deps,
  input: { folder: RunFolder; found: Found<'git'>; context: ImportContext; commits: number; signal?: AbortSignal },
): Promise<Filled> {
  const { folder, found, context, commits, signal } = input;
  const { repository, commit } = found;
  const reading = readGit(deps.git, repository, ['cat-file', 'commit', commit], { signal });
  // Awaited below.
  reading.catch(() => {});
  await measureCommit(deps, { found, context, signal });
  const taken = takeCommit(deps.git, { folder, repository, commit, ref: 'refs/holdpoint/base', signal });
  const history = takeHistory(deps, { folder, repository, commit, commits, signal });
  await Promise.all([taken, history]);
  await assertUnchanged(deps, repository);
  deps.onPoint('materialise.fetched');
  const state = deps.states.of(folder);
  const loaded = await loadTree(deps, { folder, state, treeish: `${found.commit}^{tree}` });
  const root = selectTree(loaded.root, context.selection);
  const scan = startScan(deps, { folder, state, content: hashOnly, signal });
  const clock = () => fileSystemClock(folder);
  const where = { gitDir: folder.shadow, tree: folder.tree, clock, owner: context.owner, keep: () => false };
  const onWritten = (bytes: number) => {
    bytesDone(context, bytes);
    fileDone(context);
  };
  await checkoutTree({ git: deps.git, scan, ...where, onWritten, signal }, root);
  const wanted = loaded.submodules.filter(({ path }) => context.selection.has(path));
  const submodules = wanted.map(({ path, oid }) => ({ path: toText(path), commit: oid }));
  return { before: root, submodules, commit: (await reading).stdout, history: await history };
}

/** Throws before the fetch when the commit is too large. */
async function measureCommit(
  deps: Pick<Deps, 'git'>,
  input: { found: Found<'git'>; context: ImportContext; signal?: AbortSignal },
): Promise<void> {
  const { found, context, signal } = input;
  const list = ['ls-tree', '-r', '-l', '-z', '--full-tree', `${found.commit}^{tree}`];
  const options = { maxBytes: 1024 * 1024 * 1024, signal };
  const { stdout } = await readGit(deps.git, found.repository, list, options);
  for (const row of stdout.toString('latin1').split('\0').slice(0, -1)) {
    const [facts = '', path = ''] = splitAt(row, row.indexOf('\t'));
    if (!context.selection.has(path)) continue;
    countEntry(context);
    // The size of a submodule is "-".
    countBytes(context, Number.parseInt(facts.split(/ +/)[3] ?? '', 10) || 0);
  }
}

function splitAt(text: string, index: number): [string, string] {
  return [text.slice(0, index), text.slice(index + 1)];
}
