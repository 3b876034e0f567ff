import type { Deps } from '../../deps.ts';
import { WorkspaceError } from '../../errors.ts';
import { toText } from '../../files/path-name.ts';
import type { ObjectWriter } from '../../git-objects/object-writer.ts';
import type { Conflict, Resolution } from '../../port.ts';
import type { RunFolder } from '../../run/run-folder.ts';
import { loadTree } from '../../tree/load-snapshot.ts';
import { type Change, type Folder, find, isFolder, isLeaf, type Leaf, modes } from '../../tree/tree.ts';
import { overlay } from '../overlay.ts';
import { resolve } from '../resolve.ts';
import { createTextBudget, readVersions } from '../versions.ts';

interface Input {
  folder: RunFolder;
  writer: ObjectWriter;
  base: Folder;
  source: Folder;
  run: Folder;
  resolutions: readonly Resolution[];
}

interface Open {
  path: string;
  base: Leaf | null;
  source: Leaf | null;
  run: Leaf | null;
}

/**
 * Three-way merge of trees by git, in the shadow repository, where every attribute and with it every merge driver is switched off. The
 * trees are given as commits made up for this: a base and two children. So no history is needed, and none has to be fetched.
 * Renames are not guessed: a conflict is about one path, and three versions of it.
 */
export async function mergeTrees(deps: Deps, input: Input): Promise<{ root: Folder; conflicts: Conflict[] }> {
  const { folder, writer } = input;
  const commit = (root: Folder, parent: string | null) => {
    return writer.commit({ tree: writer.root(root), parent, seconds: 0, message: 'merge' });
  };
  const base = commit(input.base, null);
  const [source, run] = [commit(input.source, base), commit(input.run, base)];
  await writer.flush();
  const merged = await mergeTree(deps, folder, source, run);
  // No ref holds the merged tree yet, so nothing of it may count as kept.
  const state = { ...deps.states.of(folder), known: new Set<string>() };
  const { root } = await loadTree(deps, { folder, state, treeish: merged.tree });
  if (merged.paths.length === 0) return { root, conflicts: [] };

  const open: Open[] = [];
  const settled: Change[] = [];
  for (const path of [...new Set(merged.paths.map((one) => originalOf(one, [source, run])))].sort()) {
    const versions = versionsAt(input, path);
    const resolution = input.resolutions.find((one) => one.path === toText(path));
    const resolved = resolve(resolution, versions, writer);
    if (resolved === undefined) open.push({ path, ...versions });
    else settled.push({ path, old: null, new: resolved.leaf });
  }
  if (open.length > 0) return { root, conflicts: await show(deps, input, open) };
  const cleared = merged.paths.map((path): Change => ({ path, old: null, new: null }));
  const result = overlay(overlay(root, cleared).root, settled);
  const blocked = result.blocked.map((path) => ({ path, ...versionsAt(input, path) }));
  return { root: result.root, conflicts: await show(deps, input, blocked) };
}

/** Of a file that cannot stay where it is, because of a folder or another kind of file, git moves one version to `path~<commit>`. */
function originalOf(path: string, commits: readonly string[]): string {
  const [, original, commit] = /^(.*)~([0-9a-f]{40})(?:_\d+)?$/s.exec(path) ?? [];
  return original !== undefined && commits.includes(commit ?? '') ? original : path;
}

function versionsAt(input: Input, path: string): Omit<Open, 'path'> {
  const leafAt = (root: Folder): Leaf | null => {
    const entry = find(root, path.split('/'));
    return isLeaf(entry) ? entry : null;
  };
  return { base: leafAt(input.base), source: leafAt(input.source), run: leafAt(input.run) };
}

async function show(deps: Deps, input: Input, open: readonly Open[]): Promise<Conflict[]> {
  const leaves = open.flatMap((one) => [one.base, one.source, one.run]);
  const version = await readVersions(deps, { gitDir: input.folder.shadow, leaves, budget: createTextBudget() });
  return open.map((one) => ({
    path: toText(one.path),
    reason: 'merge',
    detail: describe(input, one),
    versions: { base: version(one.base), source: version(one.source), run: version(one.run) },
  }));
}

function describe(input: Input, { path, base, source, run }: Open): string {
  const isFolderIn = (root: Folder) => isFolder(find(root, path.split('/')));
  if (isFolderIn(input.source)) return 'The branch has a folder here, and the run a file.';
  if (isFolderIn(input.run)) return 'The run has a folder here, and the branch a file.';
  if (source === null) return 'The branch deleted this file, and the run changed it.';
  if (run === null) return 'The branch changed this file, and the run deleted it.';
  if (base === null) return 'The branch has a file here that the run did not begin with.';
  const isLink = (leaf: Leaf) => leaf.mode === modes.symlink;
  if (isLink(source) !== isLink(run))
    return 'One of the branch and the run has a symbolic link here, the other a file.';
  return 'The branch and the run changed this file in ways that do not fit together.';
}

const settings = ['merge.renames=false', 'merge.directoryRenames=false', 'merge.conflictStyle=merge'];
/** What git answers to options that it does not know. */
const usage = 129;

async function mergeTree(
  deps: Deps,
  folder: RunFolder,
  source: string,
  run: string,
): Promise<{ tree: string; paths: string[] }> {
  const config = settings.flatMap((setting) => ['-c', setting]);
  const args = [...config, `--git-dir=${folder.shadow}`, 'merge-tree', '--write-tree', '-z', source, run];
  const { code, stdout } = await deps.git.run(args, { accept: [0, 1, usage], maxBytes: 256 * 1024 * 1024 });
  if (code === usage) {
    throw new WorkspaceError('EGITTOOOLD', 'The branch has moved, and merging into it needs git 2.38 or newer.');
  }
  const [tree = '', ...rows] = stdout.toString('latin1').split('\0');
  const end = rows.indexOf('');
  // `<mode> <oid> <stage>\t<path>`, up to an empty row; messages follow.
  const paths = rows.slice(0, end === -1 ? undefined : end).map((row) => row.slice(row.indexOf('\t') + 1));
  return { tree, paths: code === 0 ? [] : [...new Set(paths)] };
}
