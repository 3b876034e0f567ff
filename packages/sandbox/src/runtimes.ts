import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Runtime } from './port.ts';

type Language = Runtime['language'];

/** Names of the programs, the one that commands call first. */
const names: Record<Language, RegExp> = { node: /^(node|nodejs)$/, python: /^python3(\.\d+)?$/ };
const plainNames: Record<Language, string> = { node: 'node', python: 'python3' };
const systemBins = ['/usr/local/bin', '/usr/bin'];

/** A program that may be a runtime. `isFirst`: commands find it first, without any choice. */
export type Candidate = Pick<Runtime, 'language' | 'path' | 'isFirst'>;

/**
 * The runtimes that sandboxes see: in the directories of programs, and where version managers keep theirs (nvm, fnm, asdf, mise, pyenv), as far
 * as the operator mounted these.
 */
export function runtimeCandidates(toolchains: readonly string[]): Candidate[] {
  const onPath = [...toolchains.map(binOf), ...systemBins];
  const bins = [...new Set([...onPath, ...toolchains.flatMap(versionBins)])];
  const found: Candidate[] = [];
  for (const language of Object.keys(names) as Language[]) {
    const first = onPath.map((bin) => join(bin, plainNames[language])).find((path) => existsSync(path));
    for (const bin of bins) {
      for (const name of entriesOf(bin).filter((one) => names[language].test(one))) {
        const path = join(bin, name);
        found.push({ language, path, isFirst: path === first });
      }
    }
  }
  return found;
}

/** A directory that contains only programs, such as ~/.cargo/bin, is on PATH itself. */
export const binOf = (toolchain: string): string =>
  basename(toolchain) === 'bin' ? toolchain : join(toolchain, 'bin');

/** Folders below which each version has one: of the version manager, and of the folder with all versions itself. */
const layouts = [
  '',
  'versions',
  'versions/node',
  'installs/node',
  'installs/nodejs',
  'installs/python',
  'node-versions',
];

function versionBins(toolchain: string): string[] {
  return layouts.flatMap((layout) => {
    const folder = join(toolchain, layout);
    const versions = entriesOf(folder).filter((name) => /^v?\d+(\.\d+)*$/.test(name));
    return versions.flatMap((version) =>
      ['bin', 'installation/bin'].map((bin) => join(folder, version, bin)).filter((bin) => existsSync(bin)),
    );
  });
}

/** Prints one line per program that is an argument: its path and what it says of its version. */
export const printVersions =
  'for p in "$@"; do printf "%s\\t%s\\n" "$p" "$("$p" --version 2>&1 </dev/null | head -n 1)"; done';

/** @param printed of `printVersions` */
export function readVersions(candidates: readonly Candidate[], printed: string): Runtime[] {
  const lines = new Map(printed.split('\n').map((line) => line.split('\t') as [string, string | undefined]));
  return candidates.flatMap((candidate) => {
    const version = /^(?:v|Python )(\d+\.\d+\.\d+)/.exec(lines.get(candidate.path) ?? '')?.[1];
    return version === undefined ? [] : [{ ...candidate, version }];
  });
}

/**
 * What makes commands find a runtime first: its folder on PATH, or links where the folder holds other programs of the system, whose order must
 * stay.
 */
export function selectRuntime({ language, path, isFirst }: Runtime): { bins: string[]; links: [string, string][] } {
  if (isFirst) return { bins: [], links: [] };
  const bin = dirname(path);
  if (!systemBins.includes(bin)) return { bins: [bin], links: [] };
  const others = language === 'node' ? ['npm', 'npx', 'corepack'] : [];
  const linked = language === 'node' ? ['node'] : ['python3', 'python'];
  return {
    bins: [],
    links: [
      ...linked.map((name): [string, string] => [name, path]),
      ...others.filter((name) => existsSync(join(bin, name))).map((name): [string, string] => [name, join(bin, name)]),
    ],
  };
}

function entriesOf(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}
