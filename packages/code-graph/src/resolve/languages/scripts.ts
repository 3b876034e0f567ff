import { folderOf, joinPath, toExternal, toTarget, unknownTarget } from '../index-paths.ts';
import type { ImportContext, ResolveImport } from './resolve-import.ts';

/** `require_relative` next to the file, `require` below any `lib`. */
export function rubyImports({ paths }: ImportContext): ResolveImport {
  return ({ path, fact: { source } }) => {
    const name = source.endsWith('.rb') ? source : `${source}.rb`;
    if (/^\.\.?\//.test(source)) {
      const file = joinPath(folderOf(path), name);
      return file !== undefined && paths.has(file) ? toTarget([file]) : unknownTarget;
    }
    const files = paths.endingWith(`lib/${name}`);
    if (files.length > 0) return toTarget(files);
    return paths.has(name) ? toTarget([name]) : toExternal(source.split('/')[0] ?? source);
  };
}

/** `source` next to the file, or from the root, where users mostly start scripts. */
export function bashImports({ paths }: ImportContext): ResolveImport {
  return ({ path, fact: { source } }) => {
    const files = [joinPath(folderOf(path), source), joinPath('', source)];
    const file = files.find((one) => one !== undefined && paths.has(one));
    return file === undefined ? unknownTarget : toTarget([file]);
  };
}
