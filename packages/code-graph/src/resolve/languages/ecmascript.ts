import { isBuiltin } from 'node:module';
import { folderOf, type ImportTarget, joinPath, toExternal, toTarget, unknownTarget } from '../index-paths.ts';
import { openProbe } from './ecmascript/probe.ts';
import { readPackages } from './ecmascript/read-packages.ts';
import { readProjects } from './ecmascript/read-projects.ts';
import type { ImportContext, ResolveImport } from './resolve-import.ts';

/** Relative paths, `#imports`, `paths` and `baseUrl` of tsconfig.json, the packages of the tree, and then installed packages. */
export function ecmascriptImports(context: ImportContext): ResolveImport {
  const probe = openProbe(context);
  const projects = readProjects(context.configuration);
  const packages = readPackages(context.configuration, probe);

  return ({ path, language, fact: { source: written } }) => {
    const source = written.replace(/^file:|[?].*$/g, '');
    const folder = folderOf(path);
    const isScript = language === 'javascript';
    const found = (file: string | undefined): ImportTarget => (file === undefined ? unknownTarget : toTarget([file]));
    if (/^\.\.?(\/|$)/.test(source)) return found(probe(joinPath(folder, source), { isScript }));
    if (source.startsWith('#')) {
      const file = packages.imported(folder, source);
      if (file !== undefined) return found(file);
    }
    const mapped = projects(folder, source)
      .map((base) => probe(base, { isScript }))
      .find((file) => file !== undefined);
    if (mapped !== undefined) return found(mapped);
    if (source.startsWith('#') || source.startsWith('/')) return unknownTarget;
    if (isBuiltin(source)) return toExternal(source.replace(/^node:/, '').split('/')[0] ?? source);
    const [name, rest] = splitPackage(source);
    const own = packages.exported(name, rest);
    return own.isHere ? found(own.file) : toExternal(name);
  };
}

/** `@scope/name/sub/path` → `@scope/name` and `./sub/path`. */
function splitPackage(source: string): [name: string, rest: string] {
  const parts = source.split('/');
  const count = source.startsWith('@') ? 2 : 1;
  return [parts.slice(0, count).join('/'), ['.', ...parts.slice(count)].join('/')];
}
