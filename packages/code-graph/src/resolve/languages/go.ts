import { folderOf, foldersAround, joinPath, toExternal, toTarget, unknownTarget } from '../index-paths.ts';
import type { ImportContext, ResolveImport } from './resolve-import.ts';

interface Module {
  folder: string;
  name: string;
  required: string[];
  replaced: Map<string, string>;
}

/** Packages of the modules of the tree, by their go.mod, and of their `vendor` folders. */
export function goImports({ paths, configuration }: ImportContext): ResolveImport {
  const modules = [...configuration]
    .filter(([path]) => /(^|\/)go\.mod$/.test(path))
    .map(([path, text]) => readModule(folderOf(path), text))
    .sort((a, b) => b.name.length - a.name.length);

  function packageFiles(folder: string | undefined): string[] {
    if (folder === undefined) return [];
    return paths.filesIn(folder).filter((file) => file.endsWith('.go') && !file.endsWith('_test.go'));
  }

  return ({ path, fact: { source } }) => {
    if (source === 'C' || source === 'unsafe') return toExternal(source);
    if (source.startsWith('.')) return toTarget(packageFiles(joinPath(folderOf(path), source)));
    const around = new Set(foldersAround(folderOf(path)));
    const own = modules
      .filter(({ folder }) => around.has(folder))
      .toSorted((a, b) => b.folder.length - a.folder.length)
      .at(0);
    for (const module of modules) {
      const rest = below(module.name === 'std' ? '' : module.name, source);
      if (rest === undefined) continue;
      const files = packageFiles(joinPath(module.folder, rest));
      if (files.length > 0) return toTarget(files);
      if (module.name !== 'std') return unknownTarget;
    }
    const elsewhere = [vendored(own, source), replaced(own, source)].flatMap(packageFiles);
    if (elsewhere.length > 0) return toTarget(elsewhere);
    return toExternal(own?.required.find((name) => below(name, source) !== undefined) ?? source);
  };
}

function vendored(own: Module | undefined, source: string): string | undefined {
  return joinPath(own?.folder ?? '', `vendor/${source}`);
}

function replaced(own: Module | undefined, source: string): string | undefined {
  for (const [name, folder] of own?.replaced ?? []) {
    const rest = below(name, source);
    if (rest !== undefined) return joinPath(joinPath(own?.folder ?? '', folder) ?? '', rest);
  }
  return undefined;
}

/** The part of a path below another path. */
function below(name: string, path: string): string | undefined {
  if (name === '') return path;
  if (path === name) return '.';
  return path.startsWith(`${name}/`) ? path.slice(name.length + 1) : undefined;
}

/** By line and word: a hostile file must not take longer than its length. */
function readModule(folder: string, text: string): Module {
  const module: Module = { folder, name: '\0', required: [], replaced: new Map() };
  for (const line of text.split('\n')) {
    const words = (line.split('//')[0] ?? '').trim().split(/\s+/);
    const isVerb = words[0] === 'module' || words[0] === 'require' || words[0] === 'replace';
    const [first = '', second = ''] = isVerb ? words.slice(1) : words;
    const target = words[words.indexOf('=>') + 1] ?? '';
    if (words[0] === 'module' && module.name === '\0') module.name = first.replaceAll('"', '');
    else if (words.includes('=>') && /^\.{1,2}\//.test(target)) module.replaced.set(first, target);
    else if (/^v\d/.test(second) && first.includes('.')) module.required.push(first);
  }
  module.required.sort((a, b) => b.length - a.length);
  return module;
}
