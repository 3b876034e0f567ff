import { createPace, type Pace } from '../files/pace.ts';
import { readWhole } from '../files/read-whole.ts';
import { type Folder, isFolder } from '../tree/tree.ts';
import { commitContent } from './commit-object.ts';
import type { Deflater } from './deflater.ts';
import { appendLargeBlob, writeLargeBlob } from './large-blob.ts';
import { emptyTreeId, type ObjectType, objectId } from './object-id.ts';
import { type PackedObject, packObject, writePack } from './pack.ts';
import type { PackStream } from './pack-stream.ts';
import { treeContent } from './tree-object.ts';

/** Compressed bytes kept in memory before a pack is written. */
const flushAt = 32 * 1024 * 1024;
/** Files from this size on are read in pieces, so that the many of a large copy need no memory. */
export const largeFrom = 1024 * 1024;
/** Where there is no pack that is written as a stream, files from this size on get a pack of their own. */
const ownPackFrom = 4 * 1024 * 1024;
/** In any case. */
const alwaysOwnPackFrom = 64 * 1024 * 1024;

/** A large blob comes in pieces while small ones are added, so it goes to another pack. */
interface Packs {
  small: PackStream;
  large: PackStream;
}

interface ObjectWriterDeps {
  gitDir: string;
  known: Set<string>;
  deflater?: Deflater;
  packs?: Packs;
  /** Throws when the disk has too little room for more. */
  room?: () => void;
}

/**
 * Collects objects and brings them to disk together. Nothing is known to git before `flush` has returned.
 * @param deps.known ids of objects that some ref needs already, and that are not written again
 * @param deps.deflater compresses the blobs. @default they are compressed at once, here
 * @param deps.packs take the objects as they come, so that memory holds none of them; for the copy of a whole tree. @default they are kept,
 * and written together
 */
export interface ObjectWriter {
  blob(content: Uint8Array): string;
  largeBlob(fd: number, size: number): Promise<string>;
  /** Whether the object is on disk or will be with the next flush. */
  has(oid: string): boolean;
  /** Gives the folder and everything below it an object id. The root of an empty tree gets git's empty tree. */
  root(folder: Folder): Promise<string>;
  commit(input: Parameters<typeof commitContent>[0] | Buffer): string;
  /** Writes a pack when enough has come together; keeps memory bounded on long walks. */
  relieve(): Promise<void> | undefined;
  flush(): Promise<void>;
  /** To be called when a ref holds what was written: only now may others rely on it, for a collection removes what no ref needs. */
  held(): void;
}

export function createObjectWriter(deps: ObjectWriterDeps): ObjectWriter {
  const { packs, deflater, room = () => {} } = deps;
  let pending = new Map<string, PackedObject>();
  let bytes = 0;
  const written = new Set<string>();
  const deflating = new Set<string>();
  const isPending = (oid: string) => pending.has(oid) || deflating.has(oid);
  const has = (oid: string) => deps.known.has(oid) || written.has(oid) || isPending(oid);

  const add = (type: ObjectType, content: Uint8Array): string => {
    const oid = objectId(type, content);
    if (has(oid)) return oid;
    if (type === 'blob' && deflater !== undefined) {
      deflating.add(oid);
      deflater.add(oid, content);
      return oid;
    }
    const packed = packObject(oid, type, content);
    pending.set(oid, packed);
    bytes += packed.bytes.length;
    return oid;
  };

  const flush = async () => {
    room();
    const drained = (await deflater?.drain()) ?? [];
    if (packs !== undefined) {
      for (const packed of [...drained, ...pending.values()]) packs.small.append(packed);
      for (const oid of [...(await packs.small.finish()), ...(await packs.large.finish())]) written.add(oid);
    } else {
      for (const packed of drained) pending.set(packed.oid, packed);
      if (pending.size > 0) await writePack(deps.gitDir, [...pending.values()]);
      for (const oid of pending.keys()) written.add(oid);
    }
    deflating.clear();
    pending = new Map();
    bytes = 0;
  };

  const relieve = (): Promise<void> | undefined => {
    if (packs !== undefined && deflater !== undefined && deflater.bytes > 0)
      deflater.take((one) => packs.small.append(one));
    const isDue =
      packs === undefined ? bytes + (deflater?.bytes ?? 0) >= flushAt : packs.small.isFull || packs.large.isFull;
    return isDue ? flush() : deflater?.relieve();
  };

  const largeBlob = async (fd: number, size: number): Promise<string> => {
    if (packs !== undefined && size < alwaysOwnPackFrom) {
      const oid = await appendLargeBlob(packs.large, { fd, size, has, room });
      deflating.add(oid);
      return oid;
    }
    if (size < ownPackFrom) return add('blob', readWhole(fd, size));
    const oid = await writeLargeBlob(deps.gitDir, { fd, size, has, room });
    written.add(oid);
    return oid;
  };

  const seal = async (folder: Folder, pace: Pace): Promise<string | null> => {
    if (folder.oid !== undefined) return folder.oid;
    for (const entry of folder.entries.values())
      if (isFolder(entry) && entry.oid === undefined) await seal(entry, pace);
    const content = treeContent(folder);
    const pause = pace();
    if (pause !== undefined) await pause;
    folder.oid = content === null ? null : add('tree', content);
    return folder.oid;
  };

  return {
    blob: (content) => add('blob', content),
    largeBlob,
    has,
    root: async (folder) => {
      const oid = await seal(folder, createPace());
      if (oid !== null) return oid;
      add('tree', Buffer.alloc(0));
      return emptyTreeId;
    },
    commit: (input) => add('commit', Buffer.isBuffer(input) ? input : commitContent(input)),
    relieve,
    flush,
    held: () => {
      for (const oid of written) deps.known.add(oid);
      written.clear();
    },
  };
}
