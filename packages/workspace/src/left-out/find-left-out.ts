import type { LeftOut } from '@holdpoint/contract';
import { type Deps, type RunFolder, WorkspaceError, type WorkspaceRecord } from '../deps.ts';
import { type BytePath, fromText, isWithin, join } from '../files/index.ts';
import { preparedSnapshot } from '../run-folder/index.ts';
import { createSelection } from '../source/import-context.ts';
import { type Change, type Folder, find, isFolder, isSame } from '../store/objects/index.ts';
import { loadSnapshot } from '../tree/index.ts';
import { type PathQuery, type SharedRules, shareRules } from './ignore-rules.ts';

/** A subtree with at most this many paths is asked path by path: a single process answers at any depth. */
const largestBatch = 1000;
/** Patterns come from the run, and git backtracks: a hostile pattern could take hours. */
const longestMs = 60_000;

interface Branch {
  /** Whether a path of the list ends here. */
  isPath: boolean;
  /** Paths of the list at and below this branch. */
  paths: number;
  readonly children: Map<string, Branch>;
}

/**
 * Finds the paths ignored by git, by the `.gitignore` files of a tree and the `info/exclude` of the source. `git check-ignore` runs in a
 * temporary folder with nothing but the rules, so git opens nothing in the run's tree.
 *
 * A large new folder is asked before its content: for 58,000 files below `node_modules/` git gets a single path and reads none of their
 * `.gitignore` files.
 * @param input.isTracked whether the source has a file or a folder at a path
 */
async function ignoredPaths(
  deps: Pick<Deps, 'git' | 'dataDir' | 'states' | 'bounds' | 'isRoot'>,
  input: {
    folder: RunFolder;
    record: WorkspaceRecord;
    root: Folder;
    paths: readonly BytePath[];
    isTracked: (path: BytePath) => boolean;
    /** @default rules for this call alone */
    rules?: SharedRules | undefined;
  },
): Promise<Set<BytePath>> {
  const ignored = new Set<BytePath>();
  if (input.paths.length === 0) return ignored;
  await using own = shareRules();
  const rules = await (input.rules ?? own).open(deps, input);
  const signal = AbortSignal.timeout(longestMs);
  let asked = questionsOf(branchOf(input.paths), '', input.isTracked);
  try {
    while (asked.length > 0) {
      const answer = await rules.match(asked, signal);
      const next: Question[] = [];
      for (const { path, isFolder, branch } of asked) {
        if (answer.has(path)) for (const one of pathsOf(branch, path)) ignored.add(one);
        else if (isFolder) next.push(...questionsOf(branch, path, input.isTracked));
      }
      asked = next;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
    throw new WorkspaceError('EIGNORERULES', `git took more than ${longestMs / 1000} s for the ignore rules.`);
  }
  return ignored;
}

interface Question extends PathQuery {
  branch: Branch;
}

function branchOf(paths: readonly BytePath[]): Branch {
  const top = leaf();
  for (const path of paths) {
    let current = top;
    current.paths += 1;
    for (const name of path.split('/')) {
      const child = current.children.get(name) ?? leaf();
      current.children.set(name, child);
      child.paths += 1;
      current = child;
    }
    current.isPath = true;
  }
  return top;
}

const leaf = (): Branch => ({ isPath: false, paths: 0, children: new Map() });

/** Questions about the entries of a folder. A folder of the source is always entered: git decides for each path inside. */
function questionsOf(branch: Branch, path: BytePath, isTracked: (path: BytePath) => boolean): Question[] {
  const questions: Question[] = [];
  for (const [name, child] of branch.children) {
    const below = join(path, name);
    if (child.isPath) questions.push({ path: below, isFolder: false, branch: leaf() });
    if (child.children.size === 0) continue;
    if (isTracked(below)) questions.push(...questionsOf(child, below, isTracked));
    else if (child.paths > largestBatch) questions.push({ path: below, isFolder: true, branch: child });
    else {
      const within = pathsOf(child, below).filter((one) => one !== below);
      questions.push(...within.map((one) => ({ path: one, isFolder: false, branch: leaf() })));
    }
  }
  return questions;
}

/** Every path of the list at or below `path`. A question about a single file has an empty branch of its own. */
function pathsOf(branch: Branch, path: BytePath): BytePath[] {
  const found = branch.isPath || branch.children.size === 0 ? [path] : [];
  for (const [name, child] of branch.children) for (const one of pathsOf(child, join(path, name))) found.push(one);
  return found;
}

/** Decides about the membership of changes in the change set. */
export interface Scope {
  folder: RunFolder;
  record: WorkspaceRecord;
  includeIgnored: boolean;
  /** Trees of the source. git tracks a path in such a tree, so the path belongs to the change set even against an ignore rule. */
  tracked: readonly Folder[];
  /** The ignore rules shared by the questions of an operation. */
  rules?: SharedRules | undefined;
}

/**
 * Finds the changes outside the change set, with the reason: excluded by the globs of the source, in the folder of a submodule, made by
 * `prepare`, or ignored by a git source. A directory source has no ignore rules, even inside a repository.
 * @param input.root the newer tree
 */
export async function findLeftOut(
  deps: Pick<Deps, 'git' | 'dataDir' | 'states' | 'bounds' | 'isRoot'>,
  scope: Scope,
  input: { root: Folder; changes: readonly Pick<Change, 'path'>[] },
): Promise<Map<BytePath, LeftOut['reason']>> {
  const { folder, record } = scope;
  const { source } = record;
  const reasons = new Map<BytePath, LeftOut['reason']>();
  if (source.type === 'empty') return reasons;
  const selection = createSelection(source);
  const isInSubmodule = submoduleFolders(record);
  for (const { path } of input.changes) {
    if (!selection.has(path)) reasons.set(path, 'excluded');
    else if (isInSubmodule(path)) reasons.set(path, 'submodule');
  }
  const isPrepared = await preparedPaths(deps, { folder, record, root: input.root });
  for (const { path } of input.changes) if (!reasons.has(path) && isPrepared(path)) reasons.set(path, 'prepared');
  if (source.type !== 'git' || scope.includeIgnored) return reasons;
  const isTracked = (path: BytePath) => scope.tracked.some((tree) => find(tree, path.split('/')) !== undefined);
  const paths = input.changes.map(({ path }) => path).filter((path) => !reasons.has(path) && !isTracked(path));
  const ignored = await ignoredPaths(deps, { folder, record, root: input.root, paths, isTracked, rules: scope.rules });
  for (const path of ignored) reasons.set(path, 'ignored');
  return reasons;
}

/** Whether a path is below the folder of a submodule. A file in place of the folder is not: the file replaces the submodule, a conflict. */
export function submoduleFolders({ submodules }: Pick<WorkspaceRecord, 'submodules'>): (path: BytePath) => boolean {
  const folders = submodules.map(({ path }) => fromText(path));
  return (path) => folders.some((folder) => path !== folder && isWithin(path, folder));
}

/**
 * Whether the commands of `prepare` made a change: the file is in the state after `prepare`, or lies in a folder made by `prepare`. A file of
 * the source with changes by both belongs to the run.
 * @param input.root the newer tree
 */
async function preparedPaths(
  deps: Pick<Deps, 'git' | 'states'>,
  { folder, record, root }: { folder: RunFolder; record: WorkspaceRecord; root: Folder },
): Promise<(path: BytePath) => boolean> {
  const id = preparedSnapshot(folder);
  if (id === undefined) return () => false;
  const state = deps.states.of(folder);
  const source = await loadSnapshot(deps, { folder, state, id: record.base });
  const prepared = await loadSnapshot(deps, { folder, state, id });
  const made = new Map<BytePath, boolean>();
  const isMade = (above: BytePath): boolean => {
    const known = made.get(above);
    if (known !== undefined) return known;
    const names = above.split('/');
    const is = isFolder(find(prepared.root, names)) && !isFolder(find(source.root, names));
    made.set(above, is);
    return is;
  };
  return (path) => {
    const names = path.split('/');
    const was = find(source.root, names);
    const is = find(prepared.root, names);
    if (!isSame(was, is) && isSame(is, find(root, names))) return true;
    return names.slice(1).some((_, index) => isMade(names.slice(0, index + 1).join('/')));
  };
}
