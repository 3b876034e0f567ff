import { folderOf, joinPath, toExternal, toTarget, unknownTarget } from '../index-paths.ts';
import { asObject, readJson } from '../read-json.ts';
import type { ImportContext, ResolveImport } from './resolve-import.ts';

/** `use` by the autoload rules of the composer.json files, then by the namespace; `include` by its path. */
export function phpImports({ paths, configuration, filesOfModule }: ImportContext): ResolveImport {
  const rules = [...configuration]
    .filter(([path]) => /(^|\/)composer\.json$/.test(path))
    .flatMap(([path, text]) => readAutoload(folderOf(path), text))
    .sort((a, b) => b.prefix.length - a.prefix.length);

  return ({ path, fact: { source, names } }) => {
    if (names.length === 0) {
      const files = [joinPath(folderOf(path), source), joinPath('', source)].filter((file) => file !== undefined);
      const found = files.find(paths.has);
      return found === undefined ? unknownTarget : toTarget([found]);
    }
    const loaded = rules.flatMap(({ prefix, folder, isWhole }) => {
      if (!source.startsWith(prefix)) return [];
      const rest = (isWhole ? source : source.slice(prefix.length)).replaceAll('\\', '/');
      return joinPath(folder, `${rest}.php`) ?? [];
    });
    const file = loaded.find(paths.has);
    if (file !== undefined) return toTarget([file]);
    const name = source.slice(source.lastIndexOf('\\') + 1);
    const around = filesOfModule(source.slice(0, -name.length - 1)).filter((one) => one.endsWith('.php'));
    const ofClass = around.filter((one) => one === `${name}.php` || one.endsWith(`/${name}.php`));
    if (around.length > 0) return toTarget(ofClass.length > 0 ? ofClass : around);
    return toExternal(source.split('\\')[0] ?? source);
  };
}

function readAutoload(root: string, text: string): { prefix: string; folder: string; isWhole: boolean }[] {
  const composer = readJson(text);
  return ['autoload', 'autoload-dev'].flatMap((section) =>
    ['psr-4', 'psr-0'].flatMap((kind) =>
      Object.entries(asObject(asObject(composer?.[section])?.[kind]) ?? {}).flatMap(([prefix, folders]) =>
        [folders].flat().flatMap((folder) => {
          const joined = typeof folder === 'string' ? joinPath(root, folder) : undefined;
          return joined === undefined ? [] : { prefix, folder: joined, isWhole: kind === 'psr-0' };
        }),
      ),
    ),
  );
}
