import { type Folder, isFolder, type Leaf } from '../store/objects/index.ts';

/** The wanted files of a tree, in byte order of their paths. */
export function filesIn(root: Folder, has: (path: string) => boolean): { path: string; leaf: Leaf }[] {
  const found: { path: string; leaf: Leaf }[] = [];
  const visit = (folder: Folder, path: string): void => {
    for (const [name, entry] of folder.entries) {
      const below = path === '' ? name : `${path}/${name}`;
      if (isFolder(entry)) visit(entry, below);
      else if (has(below)) found.push({ path: below, leaf: entry });
    }
  };
  visit(root, '');
  return found.sort((a, b) => (a.path < b.path ? -1 : 1));
}
