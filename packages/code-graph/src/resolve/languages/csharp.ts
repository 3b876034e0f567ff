import { toExternal, toTarget } from '../index-paths.ts';
import type { ImportContext, ResolveImport } from './resolve-import.ts';

/** The files with a declaration of the namespace, or of the class of `using static` and of an alias. */
export function csharpImports({ paths, filesOfModule }: ImportContext): ResolveImport {
  return ({ fact: { source } }) => {
    const files = filesOfModule(source).filter((file) => file.endsWith('.cs'));
    if (files.length > 0) return toTarget(files);
    const end = source.lastIndexOf('.');
    const around = new Set(end < 0 ? [] : filesOfModule(source.slice(0, end)));
    const ofClass = paths.endingWith(`${source.slice(end + 1)}.cs`).filter((file) => around.has(file));
    return ofClass.length > 0 ? toTarget(ofClass) : toExternal(source);
  };
}
