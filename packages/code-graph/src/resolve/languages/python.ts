import { folderOf, foldersAround, joinPath, toExternal, toTarget, unknownTarget } from '../index-paths.ts';
import type { ImportContext, ResolveImport } from './resolve-import.ts';

/** Modules below the folder of the file, its package, the projects around the file and their `src`. */
export function pythonImports({ paths, configuration }: ImportContext): ResolveImport {
  const projects = [...configuration.keys()].filter((path) => /(^|\/)(pyproject\.toml|setup\.(py|cfg))$/.test(path));
  const roots = new Set(['', ...projects.map(folderOf)].flatMap((root) => [root, ...inside(root)]));

  function moduleFile(path: string | undefined): string | undefined {
    if (path === undefined) return undefined;
    return [`${path}.py`, `${path}/__init__.py`, `${path}.pyi`, `${path}/__init__.pyi`].find(paths.has);
  }

  /** A package without `__init__.py` is a folder. */
  function isModule(path: string | undefined): boolean {
    return path !== undefined && (moduleFile(path) !== undefined || (path !== '' && paths.isFolder(path)));
  }

  function moduleOf(from: string, source: string): string | undefined {
    const [, dots = '', rest = ''] = /^(\.*)(.*)$/.exec(source) ?? [];
    const below = rest.replaceAll('.', '/');
    if (dots !== '') return joinPath(folderOf(from), `${'../'.repeat(dots.length - 1)}${below || '.'}`);
    const first = below.split('/')[0] ?? below;
    const root = [packageRoot(from), ...roots].find((one) => isModule(joinPath(one, first)));
    return root === undefined || first === '__main__' ? undefined : attribute(joinPath(root, below));
  }

  /** `os.path` is a name in `os.py`. */
  function attribute(module: string | undefined): string | undefined {
    let path = module;
    while (path !== undefined && path !== '' && !isModule(path) && isModule(folderOf(path))) path = folderOf(path);
    return path;
  }

  function packageRoot(from: string): string {
    const around = foldersAround(folderOf(from));
    return around.find((folder) => !paths.has(joinPath(folder, '__init__.py') ?? '')) ?? '';
  }

  return ({ path, fact: { source, names } }) => {
    const module = moduleOf(path, source);
    if (module === undefined)
      return source.startsWith('.') ? unknownTarget : toExternal(source.split('.')[0] ?? source);
    const own = moduleFile(module === '' ? undefined : module) ?? packageOfRoot(module);
    const submodules = names.map(({ name }) => moduleFile(joinPath(module, name)));
    const found = submodules.filter((file) => file !== undefined);
    // A class of a package can have the name of a module of the package; the package decides, so both are named.
    const isAllModules = names.length > 0 && found.length === names.length;
    return toTarget([...found, ...(own !== undefined && !isAllModules ? [own] : [])]);
  };

  function packageOfRoot(module: string): string | undefined {
    return module === '' ? ['__init__.py'].find(paths.has) : undefined;
  }
}

function inside(root: string): string[] {
  return ['src', 'lib', 'python'].map((folder) => (root === '' ? folder : `${root}/${folder}`));
}
