import { toExternal, toTarget } from '../index-paths.ts';
import type { ImportContext, ResolveImport } from './resolve-import.ts';

/** The folders of a source file are its package, below whatever source folder. */
export function javaImports({ paths }: ImportContext): ResolveImport {
  return ({ fact: { source, names } }) => {
    const parts = source.split('.');
    if (names[0]?.name === '*') {
      const files = paths.foldersEndingWith(parts.join('/')).flatMap(paths.filesIn);
      const sources = files.filter((file) => file.endsWith('.java'));
      if (sources.length > 0) return toTarget(sources);
    }
    // `a.b.Outer.Inner` is in Outer.java, and a static import names the class.
    for (let end = parts.length; end > 0; end--) {
      const files = paths.endingWith(`${parts.slice(0, end).join('/')}.java`);
      if (files.length > 0) return toTarget(files);
    }
    const firstClass = parts.findIndex((part) => /^\p{Lu}/u.test(part));
    return toExternal(parts.slice(0, firstClass > 0 ? firstClass : undefined).join('.'));
  };
}
