import { folderOf, joinPath, toExternal, toTarget } from '../index-paths.ts';
import type { ImportContext, ResolveImport } from './resolve-import.ts';

/** Next to the file, then in any folder a compiler option may name: the folder nearest to the file. */
export function cImports({ paths }: ImportContext): ResolveImport {
  return ({ path, fact: { source } }) => {
    const isSystem = source.startsWith('<');
    const name = isSystem ? source.slice(1, -1) : source;
    const beside = isSystem ? undefined : joinPath(folderOf(path), name);
    if (beside !== undefined && paths.has(beside)) return toTarget([beside]);
    const end = name.replace(/^(\.\.?\/)+/, '');
    // `<stdio.h>` is the system's even when the tree has a file with this name.
    const found = paths
      .endingWith(end)
      .filter((file) => !isSystem || name.includes('/') || /(^|\/)include\//.test(file));
    const nearest = found.toSorted((a, b) => shared(b, path) - shared(a, path) || a.length - b.length)[0];
    return nearest === undefined ? toExternal(name) : toTarget([nearest]);
  };
}

/** How many folders two paths have in common. */
function shared(a: string, b: string): number {
  const left = a.split('/');
  const right = b.split('/');
  const differs = left.findIndex((part, index) => part !== right[index]);
  return differs < 0 ? left.length : differs;
}
