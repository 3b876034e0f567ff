import { folderOf, foldersAround, joinPath } from '../../index-paths.ts';
import { asObject, asString, readJson } from '../../read-json.ts';
import type { Probe } from './probe.ts';

/** The packages of the tree, as each of its package.json names them. */
export interface Packages {
  /** `rest` is `.` or `./sub/path`. `isHere`: the package is of the tree, even when the file is not. */
  exported(name: string, rest: string): { isHere: boolean; file?: string };
  /** `#name`, by the `imports` of the nearest package.json. */
  imported(folder: string, source: string): string | undefined;
}

interface Package {
  folder: string;
  json: Record<string, unknown>;
}

export function readPackages(configuration: ReadonlyMap<string, string>, probe: Probe): Packages {
  const byFolder = new Map<string, Package>();
  const byName = new Map<string, Package>();
  for (const [path, text] of configuration) {
    const json = /(^|\/)package\.json$/.test(path) ? readJson(text) : undefined;
    if (json === undefined) continue;
    const one = { folder: folderOf(path), json };
    byFolder.set(one.folder, one);
    const name = asString(json.name);
    if (name !== undefined && !byName.has(name)) byName.set(name, one);
  }

  function firstFile(folder: string, targets: readonly string[]): string | undefined {
    const bases = targets.flatMap((target) => [target, ...sourcesOf(target)]);
    return bases.map((base) => probe(joinPath(folder, base), { isScript: false })).find((file) => file !== undefined);
  }

  return {
    exported(name, rest) {
      const one = byName.get(name);
      if (one === undefined) return { isHere: false };
      const { exports } = one.json;
      const targets = exports === undefined ? [] : targetsOf(toConditions(exports), rest);
      const entries = rest === '.' ? entriesOf(one.json) : [];
      const files = exports === undefined ? [...entries, rest, `./src/${rest}`] : targets;
      const file =
        firstFile(one.folder, files) ?? (rest === '.' ? firstFile(one.folder, ['./src/index', './index']) : undefined);
      return { isHere: true, ...(file !== undefined && { file }) };
    },
    imported(folder, source) {
      const around = foldersAround(folder).find((each) => byFolder.has(each));
      const one = around === undefined ? undefined : byFolder.get(around);
      const imports = asObject(one?.json.imports);
      return one && imports ? firstFile(one.folder, targetsOf(imports, source)) : undefined;
    },
  };
}

/** Files built into `dist` are mostly written in `src`. */
function sourcesOf(target: string): string[] {
  const source = target
    .replace(/^(\.\/)?(dist|build|lib|out)\/((esm|cjs|es|types|src)\/)*/, './src/')
    .replace(/\.d(?=\.[cm]?ts$)/, '');
  return source === target ? [] : [source, source.replace(/\.[cm]?[jt]s$/, '')];
}

function entriesOf(json: Record<string, unknown>): string[] {
  return [json.source, json.types, json.module, json.main].flatMap((entry) => asString(entry) ?? []);
}

function toConditions(exports: unknown): Record<string, unknown> {
  const object = asObject(exports);
  return object && Object.keys(object).some((key) => key.startsWith('.')) ? object : { '.': exports };
}

/** The targets of a key of `exports` or `imports`, in the order of the conditions; the longest pattern counts. */
function targetsOf(map: Record<string, unknown>, key: string): string[] {
  if (key in map) return leaves(map[key], 0);
  const patterns = Object.keys(map)
    .filter((pattern) => pattern.includes('*'))
    .sort((a, b) => b.indexOf('*') - a.indexOf('*'));
  for (const pattern of patterns) {
    const [before = '', after = ''] = pattern.split('*');
    if (!key.startsWith(before) || !key.endsWith(after) || key.length < before.length + after.length) continue;
    const middle = key.slice(before.length, key.length - after.length);
    return leaves(map[pattern], 0).map((target) => target.replaceAll('*', () => middle));
  }
  return [];
}

function leaves(value: unknown, depth: number): string[] {
  if (typeof value === 'string') return [value];
  if (depth > 8) return [];
  if (Array.isArray(value)) return value.flatMap((one) => leaves(one, depth + 1));
  return Object.values(asObject(value) ?? {}).flatMap((one) => leaves(one, depth + 1));
}
