import { folderOf, foldersAround, joinPath } from '../../index-paths.ts';
import { asObject, asString, readJson } from '../../read-json.ts';

interface Project {
  /** Patterns of `paths`, with the folder of their relative targets. */
  mappings: { pattern: string; targets: string[] }[];
  baseFolder?: string;
}

/** Where the nearest tsconfig.json or jsconfig.json looks for a name, best first. */
export function readProjects(configuration: ReadonlyMap<string, string>) {
  const read = new Map<string, Project | undefined>();
  /** Each file is read once, however many files extend the file, and in whatever circle. */
  const byPath = new Map<string, Project | undefined>();

  function projectOf(folder: string): Project | undefined {
    for (const around of foldersAround(folder)) {
      if (!read.has(around)) {
        const names = ['tsconfig.json', 'jsconfig.json'].map((name) => joinPath(around, name) ?? '');
        const path = names.find((name) => configuration.has(name));
        read.set(around, path === undefined ? undefined : readProject({ configuration, byPath }, path, 0));
      }
      const project = read.get(around);
      if (project) return project;
    }
    return undefined;
  }

  return (folder: string, source: string): string[] => {
    const project = projectOf(folder);
    if (project === undefined) return [];
    const mapped = project.mappings
      .flatMap(({ pattern, targets }) => match(pattern, targets, source))
      .sort((a, b) => b.prefix - a.prefix)
      .flatMap(({ bases }) => bases);
    const below = project.baseFolder === undefined ? undefined : joinPath(project.baseFolder, source);
    return [...mapped, ...(below === undefined ? [] : [below])];
  };
}

function match(pattern: string, targets: readonly string[], source: string): { prefix: number; bases: string[] }[] {
  const star = pattern.indexOf('*');
  if (star < 0) return pattern === source ? [{ prefix: Number.POSITIVE_INFINITY, bases: [...targets] }] : [];
  const [before, after] = [pattern.slice(0, star), pattern.slice(star + 1)];
  if (!source.startsWith(before) || !source.endsWith(after) || source.length < before.length + after.length) return [];
  const middle = source.slice(before.length, source.length - after.length);
  return [{ prefix: before.length, bases: targets.map((target) => target.replace('*', () => middle)) }];
}

interface Reading {
  configuration: ReadonlyMap<string, string>;
  byPath: Map<string, Project | undefined>;
}

/** Longer chains are not written by people. */
const maxDepth = 50;

function readProject(reading: Reading, path: string, depth: number): Project | undefined {
  const { configuration, byPath } = reading;
  if (byPath.has(path)) return byPath.get(path);
  byPath.set(path, undefined);
  const json = readJson(configuration.get(path));
  if (json === undefined) return undefined;
  const folder = folderOf(path);
  const options = asObject(json.compilerOptions);
  const parents = [json.extends].flat().flatMap((name) => {
    const parent = typeof name === 'string' && depth < maxDepth ? extended(configuration, folder, name) : undefined;
    return parent === undefined ? [] : [readProject(reading, parent, depth + 1)];
  });
  const parent = parents.findLast((one) => one !== undefined);
  const baseUrl = asString(options?.baseUrl);
  const baseFolder = baseUrl === undefined ? parent?.baseFolder : joinPath(folder, baseUrl);
  const paths = asObject(options?.paths);
  const mappings = paths ? readMappings(paths, baseFolder ?? folder) : (parent?.mappings ?? []);
  const project = { mappings, ...(baseFolder !== undefined && { baseFolder }) };
  byPath.set(path, project);
  return project;
}

function readMappings(paths: Record<string, unknown>, folder: string): Project['mappings'] {
  return Object.entries(paths).map(([pattern, targets]) => ({
    pattern,
    targets: [targets].flat().flatMap((target) => {
      const path = typeof target === 'string' ? joinPath(folder, target) : undefined;
      return path === undefined ? [] : [path];
    }),
  }));
}

function extended(configuration: ReadonlyMap<string, string>, folder: string, name: string): string | undefined {
  const path = name.startsWith('.') ? joinPath(folder, name) : undefined;
  if (path === undefined) return undefined;
  return [path, `${path}.json`, `${path}/tsconfig.json`].find((one) => configuration.has(one));
}
