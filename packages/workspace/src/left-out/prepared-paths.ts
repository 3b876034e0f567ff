import type { Deps, RunFolder, WorkspaceRecord } from '../deps.ts';
import type { BytePath } from '../files/index.ts';
import { preparedSnapshot } from '../run-folder/index.ts';
import { type Folder, find, isFolder, isSame } from '../store/objects/index.ts';
import { loadSnapshot } from '../tree/index.ts';

/**
 * Whether the commands of `prepare` made a change: the file is in the state after `prepare`, or lies in a folder made by `prepare`. A file of
 * the source with changes by both belongs to the run.
 * @param input.root the newer tree
 */
export async function preparedPaths(
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
