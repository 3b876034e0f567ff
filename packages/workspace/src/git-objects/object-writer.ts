import type { Folder } from '../tree/tree.ts';
import { isFolder } from '../tree/tree.ts';
import { commitContent } from './commit-object.ts';
import type { Deflater } from './deflater.ts';
import { writeLargeBlob } from './large-blob.ts';
import type { ObjectType } from './object-id.ts';
import { emptyTreeId, objectId } from './object-id.ts';
import type { PackedObject } from './pack.ts';
import { packObject, writePack } from './pack.ts';
import { treeContent } from './tree-object.ts';

/** Compressed bytes kept in memory before a pack is written. */
const flushAt = 32 * 1024 * 1024;
/** Files from this size on get a pack of their own, written as a stream. */
export const largeFrom = 4 * 1024 * 1024;

/**
 * Collects objects and brings them to disk together. Nothing is known to git before `flush` has returned.
 * @param deps.known ids of objects that some ref needs already, and that are not written again
 * @param deps.deflater compresses the blobs. @default they are compressed at once, here
 */
export interface ObjectWriter {
  blob(content: Uint8Array): string;
  largeBlob(fd: number, size: number): Promise<string>;
  /** Whether the object is on disk or will be with the next flush. */
  has(oid: string): boolean;
  /** Gives the folder and everything below it an object id. The root of an empty tree gets git's empty tree. */
  root(folder: Folder): string;
  commit(input: Parameters<typeof commitContent>[0]): string;
  /** Writes a pack when enough has come together; keeps memory bounded on long walks. */
  relieve(): Promise<void> | undefined;
  flush(): Promise<void>;
  /** To be called when a ref holds what was written: only now may others rely on it, for a collection removes what no ref needs. */
  held(): void;
}

export function createObjectWriter(deps: { gitDir: string; known: Set<string>; deflater?: Deflater }): ObjectWriter {
  let pending = new Map<string, PackedObject>();
  let bytes = 0;
  const written = new Set<string>();
  const deflating = new Set<string>();
  const isPending = (oid: string) => pending.has(oid) || deflating.has(oid);
  const has = (oid: string) => deps.known.has(oid) || written.has(oid) || isPending(oid);

  const add = (type: ObjectType, content: Uint8Array): string => {
    const oid = objectId(type, content);
    if (has(oid)) return oid;
    if (type === 'blob' && deps.deflater !== undefined) {
      deflating.add(oid);
      deps.deflater.add(oid, content);
      return oid;
    }
    const packed = packObject(oid, type, content);
    pending.set(oid, packed);
    bytes += packed.bytes.length;
    return oid;
  };

  const flush = async () => {
    for (const packed of (await deps.deflater?.drain()) ?? []) pending.set(packed.oid, packed);
    deflating.clear();
    if (pending.size === 0) return;
    const objects = pending;
    await writePack(deps.gitDir, [...objects.values()]);
    for (const oid of objects.keys()) written.add(oid);
    pending = new Map();
    bytes = 0;
  };

  const seal = (folder: Folder): string | null => {
    if (folder.oid !== undefined) return folder.oid;
    for (const entry of folder.entries.values()) if (isFolder(entry)) seal(entry);
    const content = treeContent(folder);
    folder.oid = content === null ? null : add('tree', content);
    return folder.oid;
  };

  return {
    blob: (content) => add('blob', content),
    largeBlob: async (fd, size) => {
      const oid = await writeLargeBlob(deps.gitDir, { fd, size, has });
      written.add(oid);
      return oid;
    },
    has,
    root: (folder) => {
      const oid = seal(folder);
      if (oid !== null) return oid;
      add('tree', Buffer.alloc(0));
      return emptyTreeId;
    },
    commit: (input) => add('commit', commitContent(input)),
    relieve: () => (bytes + (deps.deflater?.bytes ?? 0) >= flushAt ? flush() : deps.deflater?.relieve()),
    flush,
    held: () => {
      for (const oid of written) deps.known.add(oid);
      written.clear();
    },
  };
}
