import type { Deps, Owner, RunFolder, WorkspaceRecord } from '../deps.ts';
import type { Directory } from '../files/index.ts';
import type { Entry, Folder } from '../store/objects/index.ts';
import type { KnownTree, LoadedSnapshot, RunState, Scan, SnapshotCache, TreeContent } from '../tree/index.ts';

/** The path of a tree: at its place, in the making, or out of use. */
export type TreePath = Pick<RunFolder, 'tree'>;

/** The tree of a run in use. */
export interface UsedTree {
  /** While the tree is open, maintenance does not take it away. @throws WorkspaceError `EWORKSPACEBUSY` */
  open(): Directory;
  /** Reads the whole tree. An unchanged folder is the same object as in `previous`. */
  scan(input: { state: SnapshotCache; scan: Scan; top: Directory }, previous: Entry | undefined): Promise<Folder>;
  /** Whether the time of `scan` grows with the run's writes, not with the tree. */
  readonly scansWrites: boolean;
  /** Whether a folder from outside can be renamed into the tree. */
  readonly takesFolders: boolean;
}

export interface MakeInput {
  /** Its repository has the snapshot. The folder of its trees exists. */
  folder: RunFolder;
  record: Pick<WorkspaceRecord, 'base' | 'tenant'>;
  owner: Owner;
  state: RunState;
  target: LoadedSnapshot;
  /** Another tree with almost the same files. */
  near: TreePath | undefined;
  /** The run that a fork continues. */
  origin?: Pick<RunFolder, 'path'> | undefined;
  signal?: AbortSignal | undefined;
}

/** A new tree, to be brought to its snapshot by a checkout. */
export interface NewTree {
  /** The content of the tree; undefined for an empty folder. */
  readonly known: KnownTree | undefined;
  /** The files of the target that need no write; undefined for an empty folder. */
  count(): Promise<Counted | undefined>;
}

export interface Counted {
  /** All files of the target. */
  readonly files: number;
  /** Bytes of the files in the tree already. */
  readonly bytes: number;
  /** The files to be written. */
  readonly changed: ReadonlySet<string>;
}

/** Where the files of a source are written. */
export interface Place {
  /** An empty folder without other users. */
  readonly to: string;
  /** Undefined: the files keep the owner of this process. */
  readonly owner: Owner | undefined;
  /** Whether other runs will read the files, which keep their status then. */
  readonly isShared: boolean;
}

export interface Written {
  readonly copied: { readonly root: Folder; readonly files: number; readonly bytes: number };
  readonly content: TreeContent;
  /** Whether a snapshot can hold every file. */
  readonly isStored: boolean;
}

export interface FillInput<Result extends Written> {
  folder: RunFolder;
  owner: Owner;
  tenant: string | undefined;
  write: (place: Place) => Promise<Result>;
}

/** Files on this host that a new run can have without a copy. */
export interface SharedFiles {
  /** Makes the tree of a new run with these files. @param input.root the content */
  makeTree(input: { folder: RunFolder; owner: Owner; root: Folder }): Promise<void>;
}

/** A way to hold the trees of runs. Undefined always leaves a tree to another driver. */
export interface TreeDriver {
  /** Makes a tree ready for use. Every use of a tree begins here. @throws WorkspaceError for a tree that must be built again */
  use(deps: Deps, folder: RunFolder): Promise<UsedTree | undefined>;
  make(deps: Deps, input: MakeInput): Promise<NewTree | undefined>;
  /** Lets a writer write the files of a new run's tree. */
  fill<Result extends Written>(deps: Deps, input: FillInput<Result>): Promise<Result | undefined>;
  /** Finds files with this content. */
  find(deps: Deps, content: TreeContent & { tenant: string | undefined }): Promise<SharedFiles | undefined>;
  /** The folder with everything that the run wrote, and nothing while the run writes into the tree elsewhere. */
  writesOf(tree: TreePath): string | undefined;
  /** Gives a tree made aside its place. @returns the last step, once the tree has its head; undefined: a rename is enough */
  place(from: TreePath, to: RunFolder): Promise<(() => Promise<void>) | undefined>;
}
