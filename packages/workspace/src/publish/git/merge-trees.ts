import type { Deps } from '../../deps.ts';
import { WorkspaceError } from '../../errors.ts';
import { toText } from '../../files/path-name.ts';
import type { ObjectWriter } from '../../git-objects/object-writer.ts';
import type { Conflict, Resolution } from '../../port.ts';
import type { RunFolder } from '../../run/run-folder.ts';
import { loadTree } from '../../tree/load-snapshot.ts';
import { type Change, type Folder, find, isLeaf, type Leaf } from '../../tree/tree.ts';
import { overlay } from '../overlay.ts';
import { resolve } from '../resolve.ts';
import { readVersions } from '../versions.ts';

interface Input {
  folder: RunFolder;
  writer: ObjectWriter;
  base: Folder;
  source: Folder;
  run: Folder;
  resolutions: readonly Resolution[];
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
  const { tree, paths } = await mergeTree(deps, folder, source, run);
  // No ref holds the merged tree yet, so nothing of it may count as kept.
  const state = { ...deps.states.of(folder), known: new Set<string>() };
  const { root } = await loadTree(deps, { folder, state, treeish: tree });
  if (paths.length === 0) return { root, conflicts: [] };

  const settled: Change[] = [];
  const open: { path: string; base: Leaf | null; source: Leaf | null; run: Leaf | null }[] = [];
  for (const path of paths) {
    const versions = {
      base: leafAt(input.base, path),
      source: leafAt(input.source, path),
      run: leafAt(input.run, path),
    };
    const resolution = input.resolutions.find((one) => one.path === toText(path));
    const resolved = resolve(resolution, versions, writer);
    if (resolved === undefined) open.push({ path, ...versions });
    else settled.push({ path, old: null, new: resolved.leaf });
  }
  if (open.length === 0) return { root: overlay(root, settled).root, conflicts: [] };
  const show = await readVersions(
    deps,
    folder.shadow,
    open.flatMap((one) => [one.base, one.source, one.run]),
  );
  const conflicts = open.map(({ path, base, source, run }): Conflict => {
    const known = base !== null || source !== null || run !== null;
    return {
      path: toText(path),
      reason: 'merge',
      detail: describe({ base, source, run }),
      ...(known ? { versions: { base: show(base), source: show(source), run: show(run) } } : {}),
    };
  });
  return { root, conflicts };
}

function describe({ base, source, run }: Record<'base' | 'source' | 'run', Leaf | null>): string {
  if (base === null && source !== null && run !== null) return 'Both the branch and the run made this file.';
  if (source === null) return 'The branch deleted this file, and the run changed it.';
  if (run === null) return 'The branch changed this file, and the run deleted it.';
  return 'The branch and the run changed the same lines.';
}

function leafAt(root: Folder, path: string): Leaf | null {
  const entry = find(root, path.split('/'));
  return isLeaf(entry) ? entry : null;
}

const settings = ['merge.renames=false', 'merge.directoryRenames=false', 'merge.conflictStyle=merge'];

async function mergeTree(
  deps: Deps,
  folder: RunFolder,
  source: string,
  run: string,
): Promise<{ tree: string; paths: string[] }> {
  const config = settings.flatMap((setting) => ['-c', setting]);
  const args = [...config, `--git-dir=${folder.shadow}`, 'merge-tree', '--write-tree', '-z', source, run];
  const { code, stdout } = await deps.git.run(args, { accept: [0, 1, 128, 129], maxBytes: 256 * 1024 * 1024 });
  if (code > 1) {
    throw new WorkspaceError('EGITTOOOLD', 'The branch has moved, and merging into it needs git 2.38 or newer.');
  }
  const [tree = '', ...rows] = stdout.toString('latin1').split('\0');
  const end = rows.indexOf('');
  // `<mode> <oid> <stage>\t<path>`, up to an empty row; messages follow.
  const paths = rows.slice(0, end === -1 ? undefined : end).map((row) => row.slice(row.indexOf('\t') + 1));
  return { tree, paths: code === 0 ? [] : [...new Set(paths)] };
}
