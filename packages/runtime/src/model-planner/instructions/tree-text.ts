import type { TreeListing } from '@holdpoint/workspace';
import { listedName } from '../quoted.ts';

export interface TreePath {
  path: string;
  isFolder: boolean;
}

/** Folders that hold what programs made, or packages of others: their names are no help. */
export const foreignFolders: ReadonlySet<string> = new Set([
  'node_modules',
  'vendor',
  '.git',
  '.venv',
  'site-packages',
]);
const most = { atTop: 60, inFolder: 15, lines: 150, asked: 2000 };

interface Folder {
  files: number;
  /** Names in the folder; a folder's name has its count of files. */
  names: Map<string, number | undefined>;
}

/** The first two levels of a tree. */
export class ShallowTree {
  readonly #top = new Map<string, Folder | undefined>();

  constructor(entries: Iterable<TreeListing['entries'][number]>, isReadable: (path: string) => boolean) {
    for (const { path, oid } of entries) if (oid !== null && isReadable(path)) this.#add(path.split('/'));
  }

  #add([first = '', second, ...below]: string[]): void {
    if (second === undefined) return void this.#top.set(first, undefined);
    if (foreignFolders.has(first)) return;
    const folder = this.#top.get(first) ?? { files: 0, names: new Map() };
    this.#top.set(first, folder);
    folder.files += 1;
    if (below.length === 0) folder.names.set(second, undefined);
    else if (!foreignFolders.has(second)) folder.names.set(second, (folder.names.get(second) ?? 0) + 1);
  }

  /** Paths whose ignore rules count, the first ones of a wide tree. */
  paths(): TreePath[] {
    const found = sorted(this.#top).flatMap(([name, folder]): TreePath[] => [
      { path: name, isFolder: folder !== undefined },
      ...sorted(folder?.names ?? new Map()).map(([below, files]) => ({
        path: `${name}/${below}`,
        isFolder: files !== undefined,
      })),
    ]);
    return found.slice(0, most.asked);
  }

  text(ignored: ReadonlySet<string>): string {
    const shown = sorted(this.#top).filter(([name]) => !ignored.has(name));
    const lines = shown
      .slice(0, most.atTop)
      .flatMap(([name, folder]) => (folder === undefined ? [listedName(name)] : folderLines(name, folder, ignored)));
    const cut = lines.slice(0, most.lines);
    const left = shown.length - Math.min(shown.length, most.atTop);
    if (left > 0) cut.push(`… and ${left} more at the top`);
    else if (cut.length < lines.length) cut.push('… and more');
    return cut.join('\n');
  }
}

function folderLines(name: string, { files, names }: Folder, ignored: ReadonlySet<string>): string[] {
  const shown = sorted(names).filter(([below]) => !ignored.has(`${name}/${below}`));
  const left = shown.length - most.inFolder;
  return [
    `${listedName(`${name}/`)} ${counted(files)}`,
    ...shown.slice(0, most.inFolder).map(([below, count]) => `  ${nameIn(below, count)}`),
    ...(left > 0 ? [`  … and ${left} more`] : []),
  ];
}

const nameIn = (name: string, files: number | undefined): string =>
  files === undefined ? listedName(name) : `${listedName(`${name}/`)} ${counted(files)}`;

const counted = (files: number): string => (files === 1 ? '1 file' : `${files} files`);

/** By code units, so that every process lists the same. */
const sorted = <Value>(names: ReadonlyMap<string, Value>): [string, Value][] =>
  [...names].sort(([one], [other]) => (one < other ? -1 : 1));
