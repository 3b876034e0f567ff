import type { BigIntStats } from 'node:fs';
import { statSync } from 'node:fs';
import type { Source } from '@holdpoint/contract';
import type { Deps } from '../deps.ts';
import { giveFolder } from '../files/give-away.ts';
import { openTop } from '../files/open-directory.ts';
import { createPace } from '../files/pace.ts';
import { toText } from '../files/path-name.ts';
import type { ObjectWriter } from '../git-objects/object-writer.ts';
import type { Materialised, Owner, Progress, SkippedPath } from '../port.ts';
import type { RunFolder } from '../run/run-folder.ts';
import { startScan } from '../snapshot.ts';
import { assertUnmoved, readGit } from '../source-repository/repository.ts';
import { takeCommit } from '../source-repository/take-commit.ts';
import { bringTree, hashOnly } from '../tree/bring-tree.ts';
import { loadTree } from '../tree/load-snapshot.ts';
import { fileSystemClock, type StatCache } from '../tree/stat-cache.ts';
import { emptyFolder, type Folder } from '../tree/tree.ts';
import { extractArchive } from './archive/extract-archive.ts';
import type { FoundSource } from './check-source.ts';
import { copyDirectory } from './copy-directory.ts';
import { freshMeans } from './copy-file.ts';
import { bytesAreIn, countBytes, countEntry, fileIsIn, type Intake } from './intake.ts';
import { createSelection, everything, selectTree } from './selection.ts';

type Found<Type extends FoundSource['type']> = Extract<FoundSource, { type: Type }>;

export interface Fill {
  readonly folder: RunFolder;
  readonly source: Source;
  readonly found: FoundSource;
  readonly owner: Owner;
  readonly writer: ObjectWriter;
  readonly skipped: Map<string, SkippedPath['reason']>;
  readonly onProgress?: (progress: Progress) => void;
  readonly signal?: AbortSignal;
}

export interface Filled {
  /** The tree as git knew it before, which keeps its object ids. */
  before: Folder;
  submodules: Materialised['submodules'];
  /** Content of the source's commit, of a git source. */
  commit?: Buffer;
}

/** Brings the source's files into the tree. */
export async function fillTree(deps: Deps, fill: Fill): Promise<Filled> {
  const { folder, found, signal } = fill;
  const owner = deps.isRoot ? fill.owner : undefined;
  using tree = openTop(folder.tree);
  giveFolder(tree.fd, owner, 0o700);
  const memory = createMemory(folder, deps.states.of(folder).stats);
  const intake: Intake = {
    owner,
    pace: createPace(signal),
    limits: deps.limits,
    selection: fill.source.type === 'empty' ? everything : createSelection(fill.source),
    skipped: fill.skipped,
    content: fill.writer,
    remember: memory.add,
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
      const copy = { ...intake, without: { dev, ino }, means: freshMeans() };
      using from = deps.bounds.open(found.path, 'source');
      await copyDirectory(copy, { from: from.path, to: folder.tree });
      break;
    }
    case 'archive': {
      using from = deps.bounds.open(found.path, 'source');
      await extractArchive(intake, { from: from.path, to: folder.tree, ...(signal && { signal }) });
      break;
    }
    case 'git':
      return checkOut(deps, { folder, found, intake, ...(signal && { signal }) });
    default:
      throw found satisfies never;
  }
  memory.settle();
  return { before: emptyFolder(), submodules: [] };
}

/** Files that wait until the clock has left the tick in which they were written; see `StatCache.learn`. */
function createMemory(folder: RunFolder, stats: StatCache) {
  const settleAt = 1000;
  let waiting: { path: string; status: BigIntStats; oid: string }[] = [];
  const settle = () => {
    const clock = fileSystemClock(folder);
    const young = waiting.filter(({ status }) => status.ctimeNs >= clock);
    for (const { path, status, oid } of waiting) if (status.ctimeNs < clock) stats.learn(path, status, oid, clock);
    waiting = young;
  };
  const add: Intake['remember'] = (path, status, oid) => {
    waiting.push({ path, status, oid });
    if (waiting.length % settleAt === 0) settle();
  };
  return { add, settle };
}

async function checkOut(
  deps: Deps,
  input: { folder: RunFolder; found: Found<'git'>; intake: Intake; signal?: AbortSignal },
): Promise<Filled> {
  const { folder, found, intake } = input;
  const signal = input.signal && { signal: input.signal };
  const reading = readSourceCommit(deps, { found, ...signal });
  // It is waited for below.
  reading.catch(() => {});
  await measureCommit(deps, { found, intake, ...signal });
  const { repository, commit } = found;
  await takeCommit(deps.git, { folder, repository, commit, ref: 'refs/holdpoint/base', ...signal });
  await assertUnmoved(deps, repository);
  deps.onPoint('materialise.fetched');
  const state = deps.states.of(folder);
  const loaded = await loadTree(deps, { folder, state, treeish: `${found.commit}^{tree}` });
  const root = selectTree(loaded.root, intake.selection);
  const scan = startScan(deps, { folder, state, content: hashOnly, ...signal });
  const clock = () => fileSystemClock(folder);
  const where = { gitDir: folder.shadow, tree: folder.tree, clock, owner: intake.owner, keep: () => false };
  const onWritten = (bytes: number) => {
    bytesAreIn(intake, bytes);
    fileIsIn(intake);
  };
  await bringTree({ git: deps.git, scan, ...where, onWritten, ...signal }, root);
  const wanted = loaded.submodules.filter(({ path }) => intake.selection.has(path));
  const submodules = wanted.map(({ path, oid }) => ({ path: toText(path), commit: oid }));
  return { before: root, submodules, commit: await reading };
}

async function readSourceCommit(
  deps: Pick<Deps, 'git'>,
  { found, signal }: { found: Found<'git'>; signal?: AbortSignal },
): Promise<Buffer> {
  const args = ['cat-file', 'commit', found.commit];
  return (await readGit(deps.git, found.repository, args, signal ? { signal } : {})).stdout;
}

/** Fails before anything is fetched when there is too much of it. */
async function measureCommit(
  deps: Pick<Deps, 'git'>,
  input: { found: Found<'git'>; intake: Intake; signal?: AbortSignal },
): Promise<void> {
  const { found, intake, signal } = input;
  const list = ['ls-tree', '-r', '-l', '-z', '--full-tree', `${found.commit}^{tree}`];
  const options = { maxBytes: 1024 * 1024 * 1024, ...(signal && { signal }) };
  const { stdout } = await readGit(deps.git, found.repository, list, options);
  for (const row of stdout.toString('latin1').split('\0').slice(0, -1)) {
    const [facts = '', path = ''] = splitAt(row, row.indexOf('\t'));
    if (!intake.selection.has(path)) continue;
    countEntry(intake);
    // Of a submodule it is "-".
    countBytes(intake, Number.parseInt(facts.split(/ +/)[3] ?? '', 10) || 0);
  }
}

function splitAt(text: string, index: number): [string, string] {
  return [text.slice(0, index), text.slice(index + 1)];
}
