import { folderOf, foldersAround, joinPath, toExternal, toTarget, unknownTarget } from '../index-paths.ts';
import type { ImportContext, ResolveImport } from './resolve-import.ts';

interface Crate {
  name: string;
  folder: string;
}

/** Modules of the crate of the file, and of the other crates of the tree. */
export function rustImports({ paths, configuration }: ImportContext): ResolveImport {
  const crates = [...configuration]
    .filter(([path]) => /(^|\/)Cargo\.toml$/.test(path))
    .flatMap(([path, text]) => readCrate(folderOf(path), text));

  /** The file of the longest part of a module path below a folder; undefined when not even the first part has a file. */
  function moduleFile(folder: string, parts: readonly string[]): string | undefined {
    for (let end = parts.length; end > 0; end--) {
      const path = joinPath(folder, parts.slice(0, end).join('/'));
      const file = [`${path}.rs`, `${path}/mod.rs`].find(paths.has);
      if (file !== undefined) return file;
    }
    return undefined;
  }

  function rootFile(folder: string): string | undefined {
    return ['lib.rs', 'main.rs', 'mod.rs'].map((name) => joinPath(folder, name) ?? '').find(paths.has);
  }

  /** A module declared as `mod m { … }` inside another file is in the same file. */
  function inFolder(folder: string, parts: readonly string[], own?: string): string | undefined {
    return moduleFile(folder, parts) ?? rootFile(folder) ?? own;
  }

  function find(path: string, parts: readonly string[]): string | undefined {
    const [first = '', ...rest] = parts;
    const source = sourceFolder(path);
    if (first === 'crate') return inFolder(source, rest, path);
    if (first === 'self') return moduleFile(childFolder(path), rest) ?? path;
    if (first === 'super') return above(path, rest);
    const child = moduleFile(childFolder(path), parts);
    if (child !== undefined) return child;
    const crate = crates.find(({ name }) => name === first);
    return crate && inFolder(joinPath(crate.folder, 'src') ?? '', rest);
  }

  function above(path: string, rest: readonly string[]): string | undefined {
    let folder = folderOf(childFolder(path));
    let left = rest;
    while (left[0] === 'super') {
      folder = folderOf(folder);
      left = left.slice(1);
    }
    const holder = [`${folder}.rs`, joinPath(folder, 'mod.rs') ?? ''].find(paths.has);
    // In `mod tests { use super::*; }` the import means its own file.
    return moduleFile(folder, left) ?? holder ?? rootFile(folder) ?? path;
  }

  function sourceFolder(path: string): string {
    const crate = foldersAround(folderOf(path)).find((folder) => paths.has(joinPath(folder, 'Cargo.toml') ?? ''));
    const below = crate === undefined ? path : path.slice(crate === '' ? 0 : crate.length + 1);
    const folder = below.startsWith('src/bin/') ? 'src/bin' : (below.split('/')[0] ?? '');
    return joinPath(crate ?? '', below.includes('/') ? folder : '') ?? '';
  }

  return ({ path, fact: { source, names } }) => {
    const parts = source.split('::');
    const isModule = names.length === 1 && names[0]?.name !== '*';
    const withName = isModule ? [...parts, names[0]?.name ?? ''] : parts;
    if (['std', 'core', 'alloc', 'proc_macro', 'test'].includes(parts[0] ?? '')) return toExternal(parts[0] ?? source);
    const file = find(path, withName);
    if (file !== undefined) return toTarget([file]);
    return /^(crate|self|super)$/.test(parts[0] ?? '') ? unknownTarget : toExternal(parts[0] ?? source);
  };
}

/** The folder of the modules declared by a file: the folder of `mod.rs`, `lib.rs` and `main.rs`, else a folder with the file's name. */
function childFolder(path: string): string {
  return /(^|\/)(mod|lib|main)\.rs$/.test(path) ? folderOf(path) : path.replace(/\.rs$/, '');
}

function readCrate(folder: string, text: string): Crate[] {
  const section = /^\[package\]([\s\S]*?)(?=^\[|$(?![\s\S]))/m.exec(text)?.[1] ?? '';
  const name = /^[ \t]*name[ \t]*=[ \t]*"([^"\n]+)"/m.exec(section)?.[1];
  return name === undefined ? [] : [{ name: name.replaceAll('-', '_'), folder }];
}
