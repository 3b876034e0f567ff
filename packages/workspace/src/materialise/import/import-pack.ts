import { assertFreeSpace } from '../../files/free-space.ts';
import { appendKnownBlob } from '../../store/objects/large-blob.ts';
import { type ObjectType, objectId } from '../../store/objects/object-id.ts';
import { packObject } from '../../store/objects/pack.ts';
import { PackStream } from '../../store/objects/pack-stream.ts';
import { openStoredPack, type StoredPack } from '../../store/objects/stored-pack.ts';

/** Where the objects of an import go. */
export interface PackSettings {
  /** The repository. Undefined: nothing is stored. */
  readonly gitDir: string | undefined;
  /** Packs of earlier imports, without `.pack`: objects in them are not compressed again. */
  readonly reuse: readonly string[];
  readonly space: { readonly dataDir: string; readonly limits: { readonly freeBytes: number } };
}

/** The objects stored by an import thread: its own pack, and needed objects of earlier packs. */
export class ImportPack {
  readonly #settings: PackSettings;
  readonly #stream: PackStream | undefined;
  readonly #earlier: StoredPack[];
  readonly #stored = new Set<string>();
  readonly #reused = new Set<string>();

  constructor(settings: PackSettings) {
    this.#settings = settings;
    this.#stream = settings.gitDir === undefined ? undefined : new PackStream(settings.gitDir);
    this.#earlier = settings.reuse.flatMap((path) => openStoredPack(path) ?? []);
  }

  /** Stores small content and returns its id. Copies the content. */
  add(type: ObjectType, content: Uint8Array): string {
    const oid = objectId(type, content);
    this.#stream !== undefined && this.#isNew(oid) && this.#stream.append(packObject(oid, type, content));
    return oid;
  }

  /** Stores a large file whose id is known. Its content must not change. */
  async addLarge(oid: string, file: { fd: number; size: number }): Promise<void> {
    if (this.#stream === undefined || !this.#isNew(oid)) return;
    await appendKnownBlob(this.#stream, { ...file, oid, assertSpace: this.assertSpace });
  }

  /** Ends an overlarge pack. To be called where the caller can wait. */
  async settle(): Promise<void> {
    if (this.#stream?.isFull === true) await this.#stream.finish();
  }

  /**
   * Everything is on disk at the return.
   * @param isSame whether the repository gets the earlier packs whole: then nothing must be copied out of them
   */
  async finish(isSame: boolean): Promise<void> {
    if (!isSame) await this.#copyReused();
    await this.#stream?.finish();
  }

  readonly assertSpace = (): void => assertFreeSpace(this.#settings.space);

  [Symbol.dispose](): void {
    this.#stream?.[Symbol.dispose]();
    for (const pack of this.#earlier) pack[Symbol.dispose]();
  }

  /** Notes an object, to be stored for the result true. */
  #isNew(oid: string): boolean {
    if (this.#stored.has(oid) || this.#reused.has(oid)) return false;
    const isEarlier = this.#earlier.some((pack) => pack.has(oid));
    (isEarlier ? this.#reused : this.#stored).add(oid);
    return !isEarlier;
  }

  async #copyReused(): Promise<void> {
    for (const oid of this.#reused) {
      for (const pack of this.#earlier) {
        const object = pack.read(oid);
        if (object === undefined) continue;
        this.#stream?.append(object);
        break;
      }
      await this.settle();
    }
  }
}
