import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import type { Deps } from '../../deps.ts';
import { WorkspaceError } from '../../errors.ts';
import { namesIn, openChain, openTop, statIn } from '../../files/open-directory.ts';
import { isDotGit, toText } from '../../files/path-name.ts';
import { createObjectWriter, type ObjectWriter } from '../../git-objects/object-writer.ts';
import type { Conflict, FileVersion, PublishPlan, PublishRequest } from '../../port.ts';
import type { RunFolder } from '../../run/run-folder.ts';
import type { WorkspaceRecord } from '../../run/workspace-record.ts';
import { commitTree } from '../../snapshot.ts';
import type { Change, Leaf } from '../../tree/tree.ts';
import { emptyFolders, find, isFolder, isSame, modes } from '../../tree/tree.ts';
import { type ChangeSet, changeSet } from '../change-set.ts';
import { overlay } from '../overlay.ts';
import { toPlanFiles, withDigest } from '../plan-digest.ts';
import { resolve } from '../resolve.ts';
import { readVersions, toText as textOf, versionOf } from '../versions.ts';
import type { Found, Ownership } from './inspect-source.ts';
import { inspect, readSource } from './inspect-source.ts';
import type { Journal, JournalEntry } from './publish-journal.ts';
import { lastPublished } from './publish-journal.ts';

export interface DirectoryInput extends PublishRequest {
  folder: RunFolder;
  record: WorkspaceRecord;
}

/** A plan, and the journal that carries it out. */
export interface DirectoryPlan {
  plan: PublishPlan;
  journal: Pick<Journal, 'entries' | 'made' | 'emptied'>;
}

/** Compares every path with the source as it is now, and writes down what is to be done. Changes nothing there. */
export async function planDirectory(deps: Deps, input: DirectoryInput): Promise<DirectoryPlan> {
  const { folder, record } = input;
  const root = record.origin ?? '';
  const target = { type: 'directory', path: record.source.type === 'directory' ? record.source.path : root } as const;
  if (!existsSync(root)) {
    const conflict = { path: root, reason: 'source_missing', detail: 'The directory is not where it was.' } as const;
    const plan = withDigest({ target, candidate: input.snapshot, files: [], conflicts: [conflict] }, null);
    return { plan, journal: { entries: [], made: [], emptied: [] } };
  }
  const last = lastPublished(folder);
  if (last !== undefined && isPublished(input)) {
    const plan = withDigest({ target, candidate: last.snapshot, files: [], conflicts: [] }, null);
    return { plan, journal: { entries: [], made: [], emptied: [] } };
  }
  const set = await changeSet(deps, { folder, from: last?.snapshot ?? record.base, to: input.snapshot });
  const writer = createObjectWriter({ gitDir: folder.shadow, known: deps.states.of(folder).known });
  const compared = await compare(root, { ...input, set, writer });
  await writer.flush();
  const { journal } = compared;
  const files = toPlanFiles(
    journal.entries.filter(({ old, new: now }) => old?.oid !== now?.oid || old?.mode !== now?.mode),
  );
  const conflicts = await shown(deps, input, compared.met);
  const candidate =
    conflicts.length > 0 ? input.snapshot : await candidateOf(deps, input, { set, writer, settled: compared.settled });
  return { plan: withDigest({ target, candidate, files, conflicts }, journal), journal };
}

/** The same for the same change set with the same conflicts settled in the same way. */
export const requestId = ({ snapshot, resolutions = [] }: PublishRequest): string =>
  createHash('sha256')
    .update(JSON.stringify([snapshot, resolutions]))
    .digest('hex');

/** A call that died after its last write is not to find the user's next edit in conflict with what was published. */
export const isPublished = (input: DirectoryInput): boolean =>
  lastPublished(input.folder)?.request === requestId(input);

/** A path that is not as the run found it. */
interface Met {
  change: Change;
  found: Found;
  detail: string;
}

interface Compared {
  met: Met[];
  /** Files whose conflict was settled otherwise than by the run's version. */
  settled: Change[];
  journal: DirectoryPlan['journal'];
}

async function compare(
  root: string,
  input: DirectoryInput & { set: ChangeSet; writer: ObjectWriter },
): Promise<Compared> {
  const { set, writer } = input;
  const deleted = new Set(set.changes.filter((change) => change.new === null).map((change) => change.path));
  const met: Met[] = [];
  const settled: Change[] = [];
  const entries: JournalEntry[] = [];
  const made = new Set<string>();
  for (const change of set.changes) {
    const found = await inspect(root, change.path);
    const wasFolder = isFolder(find(set.before.root, change.path.split('/')));
    const detail = objection(root, { change, found, wasFolder, deleted });
    let wanted = change.new;
    if (detail !== undefined) {
      const resolved = settle(input, { change, found });
      if (resolved === undefined) {
        met.push({ change, found, detail });
        continue;
      }
      wanted = resolved.leaf;
      if (!isSame(wanted ?? undefined, change.new ?? undefined)) settled.push({ ...change, new: wanted });
      const seen = found.kind === 'leaf' ? found : undefined;
      if (isSame(wanted ?? undefined, seen)) {
        if (seen !== undefined) await store(root, change.path, writer);
        continue;
      }
    }
    const parent = await parentOf(root, change.path);
    if (wanted !== null) for (const path of parent.missing) made.add(path);
    const old = found.kind === 'leaf' ? { mode: found.mode, oid: found.oid, ...ownershipOf(found) } : null;
    entries.push({ path: change.path, old, new: wanted && withOwnership(wanted, old, parent.ownership) });
  }
  const order = (entry: JournalEntry) => (entry.new === null ? 0 : 1);
  entries.sort((a, b) => order(a) - order(b));
  const gone = new Set(entries.filter((entry) => entry.new === null).map((entry) => entry.path));
  const emptied = parentsOf(gone).filter((path) => !isFolder(find(set.after.root, path.split('/'))));
  return { met, settled, journal: { entries, made: [...made].sort(), emptied } };
}

/** Only a file, or nothing, can be settled; what else stands in the way has to be moved by its owner. */
function settle(
  { resolutions = [], writer }: DirectoryInput & { writer: ObjectWriter },
  { change, found }: Pick<Met, 'change' | 'found'>,
): { leaf: Leaf | null } | undefined {
  if (!isSettleable(found)) return undefined;
  const source = found.kind === 'leaf' ? { mode: found.mode, oid: found.oid } : null;
  const resolution = resolutions.find((one) => one.path === toText(change.path));
  return resolve(resolution, { source, run: change.new }, writer);
}

const isSettleable = (found: Found): boolean => found.kind === 'leaf' || found.kind === 'absent';

/** Keeps a file of the source in the shadow repository: the candidate has it. */
async function store(root: string, path: string, writer: ObjectWriter): Promise<void> {
  const content = await readSource(root, path);
  if (content !== undefined) writer.blob(content);
}

async function shown(deps: Deps, input: DirectoryInput, met: readonly Met[]): Promise<Conflict[]> {
  const show = await readVersions(
    deps,
    input.folder.shadow,
    met.flatMap(({ change }) => [change.old, change.new]),
  );
  const root = input.record.origin ?? '';
  return Promise.all(
    met.map(async ({ change, found, detail }): Promise<Conflict> => {
      const conflict = { path: toText(change.path), reason: 'changed_in_source', detail } as const;
      if (!isSettleable(found)) return conflict;
      const source = found.kind === 'leaf' ? await sourceVersion(root, change.path, found) : null;
      return { ...conflict, versions: { base: show(change.old), source, run: show(change.new) } };
    }),
  );
}

async function sourceVersion(root: string, path: string, { mode, oid }: Leaf): Promise<FileVersion> {
  const content = (await readSource(root, path)) ?? Buffer.alloc(0);
  return versionOf({ mode, oid }, { bytes: content.length, text: textOf(content) });
}

/** The snapshot with what will be there: the run's own, unless a conflict was settled otherwise. */
async function candidateOf(
  deps: Deps,
  { folder, record, snapshot }: DirectoryInput,
  { set, writer, settled }: { set: ChangeSet; writer: ObjectWriter; settled: readonly Change[] },
): Promise<string> {
  if (settled.length === 0) return snapshot;
  const { root } = overlay(set.after.root, settled);
  const taken = await commitTree(deps, {
    ...{ folder, state: deps.states.of(folder), writer, root, parent: set.after },
    manifest: { skipped: set.after.manifest.skipped, empty: emptyFolders(root) },
    message: 'settled for a publish',
    seconds: record.created_at,
  });
  return taken.id;
}

/** Why a path cannot be published; undefined when it can. A path that is already as wanted is fine. */
function objection(
  root: string,
  at: { change: Change; found: Found; wasFolder: boolean; deleted: ReadonlySet<string> },
): string | undefined {
  const { change, found, deleted } = at;
  switch (found.kind) {
    case 'leaf':
      if (isSame(found, change.old ?? undefined) || isSame(found, change.new ?? undefined)) return undefined;
      return change.old === null
        ? 'A file that the run did not start from is there now.'
        : 'The file changed since the run started.';
    case 'absent':
      return change.old === null || change.new === null ? undefined : 'The file was removed since the run started.';
    case 'blocked':
      if (change.new === null || deleted.has(found.by)) return undefined;
      return `${toText(found.by)} is not a folder any more.`;
    case 'directory':
      if (at.wasFolder && holdsOnly(root, change.path, deleted)) return undefined;
      return 'A folder with other files is there now.';
    case 'special':
      return 'A socket, FIFO or device is there now.';
    default:
      throw found satisfies never;
  }
}

/** Whether everything in a folder is about to be deleted. */
function holdsOnly(root: string, path: string, deleted: ReadonlySet<string>): boolean {
  using top = openTop(root);
  using directory = openChain(top, path.split('/'));
  if (directory === undefined) return true;
  return namesIn(directory).every((name) => {
    const below = `${path}/${name}`;
    if (isDotGit(name)) return false;
    return statIn(directory, name)?.isDirectory() === true ? holdsOnly(root, below, deleted) : deleted.has(below);
  });
}

/** Owner and permissions of the nearest folder that exists, and the folders that are missing below it. */
async function parentOf(root: string, path: string): Promise<{ ownership: Ownership; missing: string[] }> {
  const names = path.split('/').slice(0, -1);
  const missing: string[] = [];
  for (let depth = names.length; depth > 0; depth--) {
    const parent = names.slice(0, depth).join('/');
    const found = await inspect(root, parent);
    if (found.kind === 'directory') return { ownership: ownershipOf(found), missing };
    missing.push(parent);
  }
  const found = await inspect(root, '.');
  if (found.kind !== 'directory') throw new WorkspaceError('ESOURCEMISSING', `${root} is not a directory any more.`);
  return { ownership: ownershipOf(found), missing };
}

/** Owner and permissions of the file that is replaced, with the executable bit put right; of the parent folder for a new one. */
function withOwnership(leaf: Leaf, old: (Leaf & Ownership) | null, parent: Ownership): Leaf & Ownership {
  const { uid, gid } = old ?? parent;
  const executable = leaf.mode === modes.executable;
  if (old === null || old.mode === modes.symlink) {
    return { ...leaf, permissions: executable ? 0o755 : 0o644, uid, gid };
  }
  const bits = old.permissions & 0o777;
  const permissions =
    executable === (old.mode === modes.executable)
      ? old.permissions & 0o777
      : executable
        ? bits | ((bits & 0o444) >> 2)
        : bits & ~0o111;
  return { ...leaf, permissions, uid, gid };
}

function ownershipOf(found: Ownership): Ownership {
  return { permissions: found.permissions, uid: found.uid, gid: found.gid };
}

/** Folders above deleted files, deepest first. */
function parentsOf(deleted: ReadonlySet<string>): string[] {
  const parents = new Set<string>();
  for (const path of deleted) {
    const names = path.split('/');
    for (let depth = names.length - 1; depth > 0; depth--) parents.add(names.slice(0, depth).join('/'));
  }
  return [...parents].sort((a, b) => b.split('/').length - a.split('/').length);
}
