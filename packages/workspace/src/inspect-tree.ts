import type { Deps } from './deps.ts';
import { WorkspaceError } from './errors.ts';
import { openTree } from './files/open-directory.ts';
import type { SnapshotId, TreeState } from './port.ts';
import { isSameAs, loadRepositories, scanRepositories } from './repository/repositories.ts';
import { currentEpoch, highestEpoch, type RunFolder, runFolder, staleLease } from './run/run-folder.ts';
import { isRunning, moveHead, readHead, type TreeHead } from './run/tree-head.ts';
import { requireRecord } from './run/workspace-record.ts';
import { startScan } from './snapshot.ts';
import { hashOnly } from './tree/checkout-tree.ts';
import { knownRoot, loadSnapshot } from './tree/load-snapshot.ts';
import { scanChildren } from './tree/scan.ts';
import { countChanges, emptyFolders } from './tree/tree.ts';

export interface InspectInput {
  runId: string;
  epoch: number;
  /** The writer that the log says was let at the tree last; empty: none since the tree was made. */
  writer: string;
  snapshot: SnapshotId;
  /** A background command may be changing the tree now, so its files prove nothing. */
  isShared: boolean;
}

export interface AdmitInput {
  runId: string;
  epoch: number;
  /** The writer before, as the log said it: when the tree was given to another one since, nothing is changed. */
  after: string;
  writer: string;
}

/**
 * Compares the head of a tree with what the log says of it: one look at a folder, 15 µs.
 *
 * @returns undefined when the process that last let a writer in is gone: no process guarded the files since, so they have to be compared
 */
export function inspectHead(deps: Pick<Deps, 'dataDir' | 'holder'>, input: InspectInput): TreeState | undefined {
  const folder = runFolder(deps.dataDir, input.runId, input.epoch);
  const head = readHead(folder);
  if (head === undefined || head.epoch !== input.epoch) return lostWith(folder);
  if (head.boot !== deps.holder.boot) {
    return lost('other_boot', 'The machine was started again since the tree was written.');
  }
  if (head.writer !== input.writer) {
    return lost(
      'log_went_back',
      `The tree was last given to ${name(head.writer)}; the log says ${name(input.writer)}.`,
    );
  }
  if (head.process === deps.holder.process || input.isShared || isRunning(head.process) === true) return sound;
  return undefined;
}

/** Compares the files of a tree with a snapshot. When they are equal, this process answers for the tree from now on. */
export async function inspectFiles(deps: Deps, input: InspectInput): Promise<TreeState> {
  const folder = runFolder(deps.dataDir, input.runId, input.epoch);
  const difference = await differenceFrom(deps, folder, input.snapshot);
  if (difference !== undefined) return lost('tree_changed', difference);
  const head = readHead(folder);
  if (head?.epoch === input.epoch && head.writer === input.writer) adopt(folder, head, deps.holder);
  return sound;
}

const sound: TreeState = { status: 'sound' };
const lost = (reason: Extract<TreeState, { status: 'lost' }>['reason'], detail: string): TreeState => ({
  status: 'lost',
  reason,
  detail,
});

const name = (writer: string): string => (writer === '' ? 'no writer' : writer);

function lostWith(folder: RunFolder): TreeState {
  // Throws when the whole workspace is gone: a new tree could not be made either.
  requireRecord(folder);
  const newest = highestEpoch(folder.path);
  if (newest <= folder.epoch) return lost('tree_changed', `Nothing is known of the tree ${folder.epoch}.`);
  return lost('log_went_back', `There is a tree ${newest}; the log knows of ${folder.epoch}.`);
}

function adopt(folder: RunFolder, head: TreeHead, holder: Deps['holder']): void {
  try {
    moveHead(folder, head, { ...head, ...holder });
  } catch (error) {
    // Another process adopted it, or let a writer in: that process answers for it.
    if (!(error instanceof WorkspaceError && error.code === 'EHEADMOVED')) throw error;
  }
}

/** How the files differ from the snapshot, in a sentence; undefined: they do not. Paths that no snapshot holds are not compared. */
async function differenceFrom(deps: Deps, folder: RunFolder, snapshot: SnapshotId): Promise<string | undefined> {
  if (currentEpoch(folder.path) !== folder.epoch) return `The tree ${folder.epoch} is missing.`;
  const state = deps.states.of(folder);
  const target = await loadSnapshot(deps, { folder, state, id: snapshot });
  // Nobody keeps background commands from beginning during this walk.
  const scan = startScan(deps, { folder, state, content: hashOnly, learn: false });
  using top = openTree(folder.tree);
  const known = knownRoot(target);
  const root = await scanChildren(scan, top, '', known);
  const changed = countChanges(known, root);
  if (changed > 0) return `${changed} ${changed === 1 ? 'path differs' : 'paths differ'} from the snapshot.`;
  const isSameShape = emptyFolders(root).join('\0') === emptyFolders(known).join('\0');
  if (!isSameShape) return 'The empty folders differ from those of the snapshot.';
  const repositories = await loadRepositories(deps, { folder, state, snapshot: target });
  if (repositories === undefined) return undefined;
  const found = await scanRepositories(scan, { top, previous: repositories.root });
  return isSameAs(repositories, found) ? undefined : 'A repository in the tree differs from the snapshot.';
}

/** Lets a writer at the tree: from now on the tree may be other than its snapshot. @throws WorkspaceError `EHEADMOVED`, `ELEASESTALE` */
export function admitWriter(deps: Pick<Deps, 'dataDir' | 'holder'>, input: AdmitInput): void {
  const folder = runFolder(deps.dataDir, input.runId, input.epoch);
  const head = readHead(folder);
  if (head === undefined || head.epoch !== input.epoch) throw staleLease(folder);
  moveHead(folder, { ...head, writer: input.after }, { epoch: input.epoch, writer: input.writer, ...deps.holder });
}
