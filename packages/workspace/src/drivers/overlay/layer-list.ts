import { createHash } from 'node:crypto';
import { type BigIntStats, lstatSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join as joinPath } from 'node:path';
import { type BytePath, createYielder, fromPlain, isAscii, join, type Yielder } from '../../files/index.ts';
import { type Folder, find, isFolder } from '../../store/objects/index.ts';

/**
 * The list of a layer has the status of every file and folder when the layer was made, and the object id of every file. A write by any
 * program changes the status, so a layer with the listed status has the listed content, as far as the disk keeps its bytes. A line takes
 * about 120 bytes; comparing 100,000 files takes 0.4 s of processor time.
 */
export interface LayerList {
  /** SHA-256 of all statuses, in hex: comparing needs nothing else. */
  readonly status: string;
  /** SHA-256 of the list file, in hex. */
  readonly file: string;
}

const listFile = (layer: string): string => joinPath(layer, 'files.list');

/** Writes the list of a finished layer. @param root the content of the layer */
export async function writeLayerList(layer: string, files: string, root: Folder): Promise<LayerList> {
  const rows: string[] = [];
  const status = await digestStatuses(files, (row, path) => {
    const entry = find(root, path.split('/'));
    rows.push(`${entry === undefined || isFolder(entry) ? '-' : entry.oid} ${row}\0`);
  });
  const bytes = Buffer.from(rows.join(''), 'latin1');
  writeFileSync(listFile(layer), bytes, { mode: 0o600 });
  return { status, file: sha256(bytes) };
}

/** A digest of the kernel's status of each file in a folder. @param onRow gets the status of each path */
export async function digestStatuses(files: string, onRow?: (row: string, path: BytePath) => void): Promise<string> {
  const hash = createHash('sha256');
  const note = (path: BytePath, status: BigIntStats) => {
    const row = rowOf(path, status);
    hash.update(`${row}\0`, 'latin1');
    onRow?.(row, path);
  };
  await walk({ top: fromPlain(files), note, maybeYield: createYielder() }, '');
  return hash.digest('hex');
}

const rowOf = (path: BytePath, { mode, size, mtimeNs, ctimeNs, ino }: BigIntStats): string =>
  `${mode} ${size} ${mtimeNs} ${ctimeNs} ${ino} ${path}`;

interface Walk {
  readonly top: BytePath;
  readonly note: (path: BytePath, status: BigIntStats) => void;
  readonly maybeYield: Yielder;
}

/** By plain paths, because no run can change a name in a layer. */
async function walk(input: Walk, path: BytePath): Promise<void> {
  const at = plainPath(path === '' ? input.top : `${input.top}/${path}`);
  for (const name of readdirSync(at, { encoding: 'latin1' as BufferEncoding }).toSorted()) {
    const below = join(path, name);
    const status = lstatSync(plainPath(`${input.top}/${below}`), { bigint: true });
    input.note(below, status);
    if (status.isDirectory()) await walk(input, below);
    const pause = input.maybeYield();
    if (pause !== undefined) await pause;
  }
}

export const plainPath = (path: BytePath): string | Buffer => (isAscii(path) ? path : Buffer.from(path, 'latin1'));

/** A path of a list. */
export interface ListedPath {
  readonly path: BytePath;
  /** `-` for a folder. */
  readonly oid: string;
  readonly row: string;
}

/** Undefined for a damaged list. */
export function readLayerList(layer: string, { file }: LayerList): ListedPath[] | undefined {
  let bytes: Buffer;
  try {
    bytes = readFileSync(listFile(layer));
  } catch {
    return undefined;
  }
  if (sha256(bytes) !== file) return undefined;
  return bytes
    .toString('latin1')
    .split('\0')
    .slice(0, -1)
    .map((line) => {
      const oid = line.slice(0, line.indexOf(' '));
      const row = line.slice(oid.length + 1);
      return { oid, row, path: row.split(' ').slice(5).join(' ') };
    });
}

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
