import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { constants, inflateSync } from 'node:zlib';
import { WorkspaceError } from '../../errors.ts';
import { createYielder, readFully } from '../../files/index.ts';
import { folderMode, parseTree, submoduleMode } from '../../host-git/tree-rows.ts';
import { type ObjectType, objectId, type PackedObject, packObject } from '../../store/objects/index.ts';
import { type OpenFile, openOwned } from './plain-config.ts';
import type { Repository } from './repository.ts';

type Owned = Pick<Repository, 'common' | 'as'>;

interface Wanted {
  type: ObjectType;
  oid: string;
}

/** A larger object is left to git. Bytes. */
const largest = 4 * 1024 * 1024;
const mostPacks = 200;

/**
 * Whether the repository certainly holds a commit: this process has read the whole object, and its hash is the id. False says nothing:
 * git also finds commits of alternates, of other forms of packs, and of more packs than are looked at here.
 */
export const holdsCommit = (repository: Owned, oid: string): boolean =>
  readPlainObject(repository, { type: 'commit', oid }) !== undefined;

/** The content of an object, read in this process and checked by its hash. Undefined where git has to answer. */
function readPlainObject(repository: Owned, { type, oid }: Wanted): Buffer | undefined {
  try {
    const content = readLoose(repository, oid) ?? readPacked(repository, oid);
    return content !== undefined && objectId(type, content) === oid ? content : undefined;
  } catch {
    // A damaged object, or a pack that a `git gc` removes at this moment.
    return undefined;
  }
}

/** More objects or bytes are left to git. */
const most = { objects: 300, bytes: 8 * 1024 * 1024 };

/**
 * A commit with its tree and files, without the known objects, in their packed form: a branch moves by few files. Undefined where git has to
 * copy the commit: large or many objects, and objects that this process cannot read.
 */
export async function packPlainCommit(
  repository: Owned,
  { commit, known, signal }: { commit: string; known: ReadonlySet<string>; signal?: AbortSignal | undefined },
): Promise<PackedObject[] | undefined> {
  const maybeYield = createYielder(signal);
  const packed = new Map<string, PackedObject>();
  const wanted: Wanted[] = [{ type: 'commit', oid: commit }];
  let bytes = 0;
  for (let next = wanted.pop(); next !== undefined; next = wanted.pop()) {
    const { type, oid } = next;
    if (known.has(oid) || packed.has(oid)) continue;
    const content = packed.size < most.objects ? readPlainObject(repository, next) : undefined;
    const below = content && namedBy(type, content);
    bytes += content?.length ?? 0;
    if (content === undefined || below === undefined || bytes > most.bytes) return undefined;
    packed.set(oid, packObject(oid, type, content));
    wanted.push(...below);
    await maybeYield();
  }
  return [...packed.values()];
}

/** The objects that an object needs, without submodules. Undefined for a malformed object. */
function namedBy(type: ObjectType, content: Buffer): Wanted[] | undefined {
  if (type === 'blob') return [];
  if (type === 'commit') {
    const oid = /^tree ([0-9a-f]{40})\n/.exec(content.toString('latin1'))?.[1];
    return oid === undefined ? undefined : [{ type: 'tree', oid }];
  }
  try {
    const entries = parseTree(content).filter(({ mode }) => mode !== submoduleMode);
    return entries.map(({ mode, oid }) => ({ type: mode === folderMode ? 'tree' : 'blob', oid }));
  } catch (error) {
    if (error instanceof WorkspaceError) return undefined;
    throw error;
  }
}

function readLoose({ common, as }: Owned, id: string): Buffer | undefined {
  using file = openOwned(join(common, 'objects', id.slice(0, 2), id.slice(2)), as);
  if (file === undefined || file.bytes > largest) return undefined;
  const object = inflate(readFully(file.fd, file.bytes));
  return object.subarray(object.indexOf(0) + 1);
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
const offsetDelta = 6;
/** Commits, trees and blobs have the numbers 1 to 3. */
const lastPlainType = 3;
/** The type and size of an entry take at most 10 bytes, the distance to its base as many. */
const mostHeadBytes = 20;

/** The content of an object in a pack, from its deltas too. */
function readEntry(pack: OpenFile, offset: number, deltasLeft: number): Buffer | undefined {
  const head = readFully(pack.fd, mostHeadBytes, offset);
  let at = 0;
  const first = head[at++] ?? 0;
  let size = first & 0x0f;
  for (let byte = first, unit = 16; byte & 0x80; unit *= 128) {
    byte = head[at++] ?? 0;
    size += (byte & 0x7f) * unit;
  }
  if (size > largest) return undefined;
  const type = (first >> 4) & 7;
  if (type >= 1 && type <= lastPlainType) return inflate(readDeflated(pack, offset + at, size));
  if (type !== offsetDelta || deltasLeft === 0) return undefined;
  let distance = -1;
  for (let byte = 0x80; byte & 0x80; ) {
    byte = head[at++] ?? 0;
    distance = (distance + 1) * 128 + (byte & 0x7f);
  }
  const base = distance > 0 && distance < offset ? readEntry(pack, offset - distance, deltasLeft - 1) : undefined;
  return base && applyDelta(base, inflate(readDeflated(pack, offset + at, size)));
}

/** Content that does not compress grows by less than an eighth. */
const readDeflated = ({ fd, bytes }: OpenFile, at: number, size: number): Buffer =>
  readFully(fd, Math.min(size + size / 8 + 128, bytes - at) | 0, at);

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
