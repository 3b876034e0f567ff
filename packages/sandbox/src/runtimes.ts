import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Runtime } from './port.ts';

type Language = Runtime['language'];

/** File names of a language's runtimes. */
const names: Record<Language, RegExp> = { node: /^(node|nodejs)$/, python: /^python3(\.\d+)?$/ };
const plainNames: Record<Language, string> = { node: 'node', python: 'python3' };
const systemBins = ['/usr/local/bin', '/usr/bin'];

/** A possible runtime. `isFirst`: commands find this program first, without any choice. */
export type Candidate = Pick<Runtime, 'language' | 'path' | 'isFirst'>;

/**
 * Possible runtimes visible in sandboxes: in the directories of programs, and in the directories of version managers (nvm, fnm, asdf, mise,
 * pyenv) as far as the operator mounted them.
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

/** The directory of a toolchain for PATH. A toolchain directory named `bin`, e.g. ~/.cargo/bin, is its own entry of PATH. */
export const binOf = (toolchain: string): string =>
  basename(toolchain) === 'bin' ? toolchain : join(toolchain, 'bin');

/**
 * Folders with one subfolder per version, relative to the directory of a version manager. Empty: the toolchain is the folder with all
 * versions.
 */
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

/** A script for bash: prints a line per argument, with the program's path and the first line of its `--version`. */
export const printVersions =
  'for p in "$@"; do printf "%s\\t%s\\n" "$p" "$("$p" --version 2>&1 </dev/null | head -n 1)"; done';

/** @param printed output of `printVersions` */
export function readVersions(candidates: readonly Candidate[], printed: string): Runtime[] {
  const lines = new Map(printed.split('\n').map((line) => line.split('\t') as [string, string | undefined]));
  return candidates.flatMap((candidate) => {
    const version = /^(?:v|Python )(\d+\.\d+\.\d+)/.exec(lines.get(candidate.path) ?? '')?.[1];
    return version === undefined ? [] : [{ ...candidate, version }];
  });
}

/**
 * Entries of PATH and links for commands to find a runtime first. A system folder gets links instead of an entry, because the order of its
 * other programs on PATH must stay.
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
