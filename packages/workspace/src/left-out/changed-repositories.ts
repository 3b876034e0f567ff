import { type ChangedRepository, isUnstorable, type LeftOut } from '@holdpoint/contract';
import type { Deps, RunFolder, SnapshotId } from '../deps.ts';
import { type BytePath, isDotGit, join, toText } from '../files/index.ts';
import { blobSizes } from '../host-git/stream-blobs.ts';
import { modifiedAt } from '../read/files.ts';
import type { Skipped } from '../run-folder/index.ts';
import * as objects from '../store/objects/index.ts';
import { loadRepositories, loadSnapshot, readManifests } from '../tree/index.ts';

/** Entries of a list; further entries are summed up per reason. */
const mostEntries = 200;

/**
 * Groups the left out paths for a person: `node_modules/` in place of its 58,000 files. A folder stands for its files when the run created
 * the folder and all changes inside are left out for the same reason.
 */
export async function summarise(
  deps: Pick<Deps, 'git'>,
  input: {
    folder: RunFolder;
    changes: readonly objects.Change[];
    reasons: ReadonlyMap<BytePath, LeftOut['reason']>;
    skipped: ReadonlyMap<BytePath, Skipped>;
    /** The tree at the start of the run. */
    base: objects.Folder;
    /** Ids of blobs that git cannot read: their size is not known. */
    damaged?: ReadonlySet<string>;
  },
): Promise<LeftOut[]> {
  const { changes, reasons, skipped, damaged = new Set() } = input;
  const left = changes.filter(({ path }) => reasons.has(path));
  const oids = left.flatMap(({ new: leaf }) => (leaf === null || damaged.has(leaf.oid) ? [] : [leaf.oid]));
  const sizes = await blobSizes(deps, { gitDir: input.folder.shadow, oids });
  const top = topOf(input);
  const groups = new Map<string, LeftOut>();
  const add = (at: string, reason: LeftOut['reason'], bytes: number, mtime?: string) => {
    const modified_at = mtime === undefined ? undefined : modifiedAt(mtime);
    const group = groups.get(at) ?? { path: toText(at), reason, files: 0, bytes: 0, modified_at };
    groups.set(at, { ...group, files: group.files + 1, bytes: group.bytes + bytes });
  };
  for (const { path, new: leaf } of left) {
    add(top(path), reasons.get(path) ?? 'ignored', sizes.get(leaf?.oid ?? '') ?? 0);
  }
  for (const [path, { reason, bytes, mtime }] of skipped) {
    const other = reasons.get(path);
    if (other === undefined) add(path, reason, bytes, mtime);
    else add(top(path), other, bytes);
  }
  const list = [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => group);
  return limitEntries(list);
}

/** The topmost folder in place of a path, with a trailing slash; the path when no folder can stand for the path. */
function topOf(input: {
  changes: readonly objects.Change[];
  reasons: ReadonlyMap<BytePath, LeftOut['reason']>;
  base: objects.Folder;
}): (path: BytePath) => string {
  const folderReasons = new Map<BytePath, LeftOut['reason'] | 'mixed'>();
  for (const { path } of input.changes) {
    const reason = input.reasons.get(path) ?? 'mixed';
    for (const above of foldersAbove(path)) {
      const known = folderReasons.get(above);
      if (known === undefined) folderReasons.set(above, reason);
      else if (known !== reason) folderReasons.set(above, 'mixed');
    }
  }
  const standsFor = new Map<BytePath, boolean>();
  const canStand = (above: BytePath) => {
    const known =
      standsFor.get(above) ??
      (folderReasons.get(above) !== 'mixed' && !objects.isFolder(objects.find(input.base, above.split('/'))));
    standsFor.set(above, known);
    return known;
  };
  return (path) => {
    const found = foldersAbove(path).find(canStand);
    return found === undefined ? path : `${found}/`;
  };
}

/** Topmost first. */
function foldersAbove(path: BytePath): BytePath[] {
  const folders: BytePath[] = [];
  for (let end = path.indexOf('/'); end !== -1; end = path.indexOf('/', end + 1)) folders.push(path.slice(0, end));
  return folders;
}

/** Files impossible for every snapshot come first. The overflow becomes an entry per reason. */
function limitEntries(list: LeftOut[]): LeftOut[] {
  if (list.length <= mostEntries) return list;
  const byNeed = [...list].sort((a, b) => Number(isUnstorable(b)) - Number(isUnstorable(a)));
  const rest = new Map<LeftOut['reason'], LeftOut>();
  for (const { reason, files, bytes } of byNeed.slice(mostEntries)) {
    const sum = rest.get(reason) ?? { path: null, reason, files: 0, bytes: 0 };
    rest.set(reason, { ...sum, files: sum.files + files, bytes: sum.bytes + bytes });
  }
  return [...byNeed.slice(0, mostEntries), ...rest.values()];
}

/**
 * The different `.git` entries of two snapshots. A person sees them, because the configuration of a repository made by a command can run
 * programs.
 */
export async function changedRepositories(
  deps: Deps,
  input: { folder: RunFolder; from: SnapshotId; to: SnapshotId },
): Promise<LeftOut[]> {
  const { found } = await findChanged(deps, input);
  return limitEntries([...found.values()]);
}

/** The changed repositories with their configuration: a later git command runs the programs named there. */
export async function configuredRepositories(
  deps: Deps,
  input: { folder: RunFolder; from: SnapshotId; to: SnapshotId },
): Promise<ChangedRepository[]> {
  const { found, to } = await findChanged(deps, input);
  const shown = [...found].slice(0, mostShown);
  const rest = [...found.values()].slice(mostShown);
  const list: ChangedRepository[] = [];
  for (const [at, { path, files, bytes }] of shown) {
    list.push({ path, files, bytes, configuration: await configurationOf(deps, input.folder, to, at) });
  }
  if (rest.length === 0) return list;
  const sum = (of: 'files' | 'bytes') => rest.reduce((total, one) => total + one[of], 0);
  const configuration = `not shown (${rest.length} more repositories)`;
  return [...list, { path: null, files: sum('files'), bytes: sum('bytes'), configuration }];
}

const mostShown = 20;
/** Bytes per file. */
const longestConfiguration = 4096;

/** Null for the workspace's own repository, whose configuration is fixed. */
async function configurationOf(
  deps: Deps,
  folder: RunFolder,
  root: objects.Folder,
  at: BytePath,
): Promise<string | null> {
  const names = at.replace(/\/$/, '').split('/');
  if (names.length === 1) return null;
  const entry = objects.find(root, names);
  if (entry === undefined) return null;
  const sources = objects.isFolder(entry)
    ? controlFiles.map((name) => [name, entry.entries.get(name)] as const)
    : [['', entry] as const];
  const texts: string[] = [];
  for (const [name, leaf] of sources) {
    if (!objects.isLeaf(leaf)) continue;
    const { stdout } = await deps.git.run([`--git-dir=${folder.shadow}`, 'cat-file', 'blob', leaf.oid], {
      maxBytes: 64 * 1024 * 1024,
    });
    const text = stdout.subarray(0, longestConfiguration).toString('utf8').trimEnd();
    const more = stdout.length > longestConfiguration ? `\n… ${stdout.length - longestConfiguration} bytes more` : '';
    const kind = leaf.mode === objects.modes.symlink ? ' (a link)' : '';
    texts.push(name === '' ? `${text}${more}${kind}` : `${name}${kind}:\n${text}${more}`);
  }
  return texts.length === 0 ? null : texts.join('\n');
}

/** `commondir` points git to another configuration. */
const controlFiles = ['config', 'config.worktree', 'commondir'];

async function findChanged(
  deps: Deps,
  input: { folder: RunFolder; from: SnapshotId; to: SnapshotId },
): Promise<{ found: Map<BytePath, LeftOut>; to: objects.Folder }> {
  const { folder } = input;
  const state = deps.states.of(folder);
  const ids = [input.from, input.to];
  const [before, after] = await readManifests(deps, { folder, state, ids });
  if (before?.repositories === after?.repositories) return { found: new Map(), to: objects.emptyFolder() };
  const [from = objects.emptyFolder(), to = objects.emptyFolder()] = await Promise.all(
    ids.map((id) => rootOf(deps, folder, id)),
  );
  const changes = objects.changesBetween(from, to);
  const oids = changes.flatMap(({ new: leaf }) => (leaf === null ? [] : [leaf.oid]));
  const sizes = await blobSizes(deps, { gitDir: folder.shadow, oids });
  const found = new Map<BytePath, LeftOut>();
  for (const { path, new: leaf } of changes) {
    const at = nameOf(path, [from, to]);
    const one = found.get(at) ?? { path: toText(at), reason: 'repository', files: 0, bytes: 0 };
    const bytes = one.bytes + (sizes.get(leaf?.oid ?? '') ?? 0);
    found.set(at, { ...one, files: one.files + 1, bytes });
  }
  return { found, to };
}

async function rootOf(deps: Deps, folder: RunFolder, id: SnapshotId): Promise<objects.Folder> {
  const state = deps.states.of(folder);
  const snapshot = await loadSnapshot(deps, { folder, state, id });
  return (await loadRepositories(deps, { folder, state, snapshot }))?.root ?? objects.emptyFolder();
}

/** The `.git` entry of a path, with a trailing slash for a folder. */
function nameOf(path: string, roots: readonly objects.Folder[]): string {
  let at = '';
  let folders = [...roots];
  for (const name of path.split('/')) {
    at = join(at, name);
    folders = folders.map(({ entries }) => entries.get(name)).filter(objects.isFolder);
    if (isDotGit(name)) break;
  }
  return folders.length > 0 ? `${at}/` : at;
}
