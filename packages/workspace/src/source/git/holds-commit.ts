import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { constants, inflateSync } from 'node:zlib';
import { readFully } from '../../files/read-fully.ts';
import { type OpenFile, openOwned } from './open-owned.ts';
import type { Repository } from './repository.ts';

type Owned = Pick<Repository, 'common' | 'as'>;

/** A larger commit is left to git. Bytes. */
const largest = 256 * 1024;
const mostPacks = 200;

/**
 * Whether the repository certainly holds a commit: this process has read the whole object, and its hash is the id. False says nothing:
 * git also finds commits of alternates, of other forms of packs, and of more packs than are looked at here.
 */
export function holdsCommit(repository: Owned, commit: string): boolean {
  try {
    const content = readLoose(repository, commit) ?? readPacked(repository, commit);
    return content !== undefined && idOf(content) === commit;
  } catch {
    // A damaged object, or a pack that a `git gc` removes at this moment.
    return false;
  }
}

const idOf = (content: Buffer): string =>
  createHash('sha1').update(`commit ${content.length}\0`).update(content).digest('hex');

function readLoose({ common, as }: Owned, id: string): Buffer | undefined {
  using file = openOwned(join(common, 'objects', id.slice(0, 2), id.slice(2)), as);
  if (file === undefined || file.bytes > largest) return undefined;
  const object = inflate(readFully(file.fd, file.bytes));
  const end = object.indexOf(0);
  const [type, size] = object.toString('latin1', 0, end).split(' ');
  return type === 'commit' && Number(size) === object.length - end - 1 ? object.subarray(end + 1) : undefined;
}

/** The bytes behind the end of the compressed stream do not matter. */
const inflate = (bytes: Buffer): Buffer =>
  inflateSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: largest });

function readPacked({ common, as }: Owned, id: string): Buffer | undefined {
  const folder = join(common, 'objects/pack');
  const indexes = readdirSync(folder).filter((name) => /^pack-[0-9a-f]{40}\.idx$/.test(name));
  if (indexes.length > mostPacks) return undefined;
  for (const name of indexes) {
    const offset = findOffset(join(folder, name), { as, id });
    if (offset === undefined) continue;
    using pack = openOwned(join(folder, `${name.slice(0, -'.idx'.length)}.pack`), as);
    const content = pack && readEntry(pack, offset, mostDeltas);
    if (content !== undefined) return content;
  }
  return undefined;
}

const idBytes = 20;
const headBytes = 8;
const fanoutBytes = 256 * 4;

/** Looks a few numbers up in the index of a pack, version 2: indexes of large repositories have gigabytes. */
function findOffset(path: string, { as, id }: { as: Repository['as']; id: string }): number | undefined {
  using file = openOwned(path, as);
  if (file === undefined) return undefined;
  const head = readFully(file.fd, headBytes + fanoutBytes, 0);
  if (head.readUInt32BE(0) !== 0xff744f63 || head.readUInt32BE(4) !== 2) return undefined;
  const wanted = Buffer.from(id, 'hex');
  const [first = 0] = wanted;
  const count = head.readUInt32BE(headBytes + 255 * 4);
  let low = first === 0 ? 0 : head.readUInt32BE(headBytes + (first - 1) * 4);
  let high = head.readUInt32BE(headBytes + first * 4);
  const idsAt = headBytes + fanoutBytes;
  while (low < high) {
    const middle = (low + high) >> 1;
    const order = wanted.compare(readFully(file.fd, idBytes, idsAt + middle * idBytes));
    if (order === 0) return offsetAt(file, idsAt + count * (idBytes + 4) + middle * 4);
    if (order < 0) high = middle;
    else low = middle + 1;
  }
  return undefined;
}

/** Undefined for an offset above 2 GiB, which lies in a table of its own. */
function offsetAt({ fd }: OpenFile, at: number): number | undefined {
  const offset = readFully(fd, 4, at).readUInt32BE(0);
  return offset < 2 ** 31 ? offset : undefined;
}

/** git makes chains of at most 50 by default. */
const mostDeltas = 60;
const entryTypes = { commit: 1, offsetDelta: 6 } as const;

/** The content of a commit in a pack, from its deltas too. */
function readEntry(pack: OpenFile, offset: number, deltasLeft: number): Buffer | undefined {
  const bytes = readFully(pack.fd, Math.min(largest, pack.bytes - offset), offset);
  let at = 0;
  const first = bytes[at++] ?? 0;
  for (let byte = first; byte & 0x80; byte = bytes[at++] ?? 0);
  const type = (first >> 4) & 7;
  if (type === entryTypes.commit) return inflate(bytes.subarray(at));
  if (type !== entryTypes.offsetDelta || deltasLeft === 0) return undefined;
  let distance = -1;
  for (let byte = 0x80; byte & 0x80; ) {
    byte = bytes[at++] ?? 0;
    distance = (distance + 1) * 128 + (byte & 0x7f);
  }
  const base = distance > 0 && distance < offset ? readEntry(pack, offset - distance, deltasLeft - 1) : undefined;
  return base && applyDelta(base, inflate(bytes.subarray(at)));
}

/** The result has the right bytes or another hash, so nothing else is checked here. */
function applyDelta(base: Buffer, delta: Buffer): Buffer {
  let at = 0;
  const next = (): number => delta[at++] ?? 0;
  for (let sizes = 0; sizes < 2; sizes++) while (next() & 0x80);
  const pieces: Buffer[] = [];
  let bytes = 0;
  while (at < delta.length && bytes <= largest) {
    const command = next();
    const piece = command & 0x80 ? copied(base, command, next) : delta.subarray(at, at + command);
    if ((command & 0x80) === 0) at += command;
    bytes += piece.length;
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

/** Four bits of the command name the bytes of the offset that follow, three those of the size. */
function copied(base: Buffer, command: number, next: () => number): Buffer {
  const number = (bits: readonly number[]): number =>
    bits.reduce((sum, bit, index) => (command & bit ? sum + next() * 256 ** index : sum), 0);
  const from = number([0x01, 0x02, 0x04, 0x08]);
  const size = number([0x10, 0x20, 0x40]);
  return base.subarray(from, from + (size === 0 ? 0x10000 : size));
}
