import { createYielder, readFully, type Yielder } from '../../files/index.ts';
import { appendLargeBlob, writeLargeBlob } from './large-blob.ts';
import { commitContent, treeContent } from './object-content.ts';
import { emptyTreeId, type ObjectType, objectId } from './object-id.ts';
import { type PackedObject, packObject, writePack } from './pack.ts';
import type { PackStream } from './pack-stream.ts';
import { type Folder, isFolder } from './tree.ts';

/** Compressed bytes held in memory before a pack is written. */
const flushBytes = 32 * 1024 * 1024;
/** Files of at least this size are read in pieces: a copy of many large files needs little memory. */
export const largeBlobBytes = 1024 * 1024;
/** Without `packs`, files of at least this size get a pack of their own. */
const ownPackBytes = 4 * 1024 * 1024;
/** With `packs`, files of at least this size get a pack of their own. */
const ownPackBytesWithPacks = 64 * 1024 * 1024;

/** A large blob arrives in pieces while small blobs are added, so the large blob goes to another pack. */
interface Packs {
  small: PackStream;
  large: PackStream;
}

interface ObjectWriterDeps {
  gitDir: string;
  known: Set<string>;
  packs?: Packs;
  /** Throws when the disk has too little free space. */
  assertSpace?: () => void;
}

/**
 * Collects objects and writes them together. git sees no object before `flush` has returned.
 * @param deps.known ids of objects already needed by a ref; they are not written again
 * @param deps.packs receive the objects at their arrival, to keep the memory of a whole tree's copy small. @default objects stay in
 * memory until they are written together
 */
export interface ObjectWriter {
  blob(content: Uint8Array): string;
  largeBlob(fd: number, size: number): Promise<string>;
  /** Whether the object is on disk or will be with the next flush. */
  has(oid: string): boolean;
  /** Gives the folder and everything below an object id. The root of an empty tree gets git's empty tree. */
  root(folder: Folder): Promise<string>;
  commit(input: Parameters<typeof commitContent>[0] | Buffer): string;
  /** Writes a pack when enough objects have been collected; bounds memory on long walks. */
  backpressure(): Promise<void> | undefined;
  flush(): Promise<void>;
  /**
   * Takes the objects of a flush, for a caller with its own way to make them durable; undefined for more than `most` bytes. Not for a
   * writer with packs.
   */
  take(most: number): readonly PackedObject[] | undefined;
  /** Called when a ref refers to the written objects: only then can others rely on them, because a collection removes unreferenced objects. */
  markReferenced(): void;
}

export function createObjectWriter(deps: ObjectWriterDeps): ObjectWriter {
  const { packs, assertSpace = () => {} } = deps;
  let pending = new Map<string, PackedObject>();
  let bytes = 0;
  const written = new Set<string>();
  const appended = new Set<string>();
  const isPending = (oid: string) => pending.has(oid) || appended.has(oid);
  const has = (oid: string) => deps.known.has(oid) || written.has(oid) || isPending(oid);

  const add = (type: ObjectType, content: Uint8Array): string => {
    const oid = objectId(type, content);
    if (has(oid)) return oid;
    const packed = packObject(oid, type, content);
    pending.set(oid, packed);
    bytes += packed.bytes.length;
    return oid;
  };

  const flush = async () => {
    assertSpace();
    if (packs !== undefined) {
      for (const packed of pending.values()) packs.small.append(packed);
      for (const oid of [...(await packs.small.finish()), ...(await packs.large.finish())]) written.add(oid);
    } else {
      if (pending.size > 0) await writePack(deps.gitDir, [...pending.values()]);
      for (const oid of pending.keys()) written.add(oid);
    }
    appended.clear();
    pending = new Map();
    bytes = 0;
  };

  const backpressure = (): Promise<void> | undefined => {
    const isDue = bytes >= flushBytes || packs?.small.isFull === true || packs?.large.isFull === true;
    if (packs === undefined) return isDue ? flush() : undefined;
    // The packs take all objects: memory holds none of them.
    for (const packed of pending.values()) packs.small.append(packed);
    for (const oid of pending.keys()) appended.add(oid);
    pending = new Map();
    bytes = 0;
    return isDue ? flush() : undefined;
  };

  const largeBlob = async (fd: number, size: number): Promise<string> => {
    if (packs !== undefined && size < ownPackBytesWithPacks) {
      const oid = await appendLargeBlob(packs.large, { fd, size, has, assertSpace });
      appended.add(oid);
      return oid;
    }
    if (size < ownPackBytes) return add('blob', readFully(fd, size));
    const oid = await writeLargeBlob(deps.gitDir, { fd, size, has, assertSpace });
    written.add(oid);
    return oid;
  };

  const seal = async (folder: Folder, maybeYield: Yielder): Promise<string | null> => {
    if (folder.oid !== undefined) return folder.oid;
    for (const entry of folder.entries.values())
      if (isFolder(entry) && entry.oid === undefined) await seal(entry, maybeYield);
    const content = treeContent(folder);
    const pause = maybeYield();
    if (pause !== undefined) await pause;
    folder.oid = content === null ? null : add('tree', content);
    return folder.oid;
  };

  return {
    blob: (content) => add('blob', content),
    largeBlob,
    has,
    root: async (folder) => {
      const oid = await seal(folder, createYielder());
      if (oid !== null) return oid;
      add('tree', Buffer.alloc(0));
      return emptyTreeId;
    },
    commit: (input) => add('commit', Buffer.isBuffer(input) ? input : commitContent(input)),
    backpressure,
    flush,
    take: (most) => {
      assertSpace();
      if (packs !== undefined || bytes > most) return undefined;
      const taken = [...pending.values()];
      for (const oid of pending.keys()) written.add(oid);
      pending = new Map();
      bytes = 0;
      return taken;
    },
    markReferenced: () => {
      for (const oid of written) deps.known.add(oid);
      written.clear();
    },
  };
}
