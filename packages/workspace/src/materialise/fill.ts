import type { Source } from '@holdpoint/contract';
import type { ObjectWriter, Owner, Progress, RunFolder, SkippedPath } from '../deps.ts';
import type { FoundSource } from '../source/git/found-source.ts';
import type { SourcePool } from '../source/pool/source-pool.ts';

/** A source on its way to become the tree of a run. */
export interface Fill {
  readonly folder: RunFolder;
  readonly source: Source;
  readonly found: FoundSource;
  readonly tenant: string | undefined;
  readonly owner: Owner;
  /** Stores the objects of the files, and nothing else. */
  readonly content: ObjectWriter;
  /** Undefined: nothing of this source is kept for other runs. */
  readonly pool: SourcePool | undefined;
  readonly skipped: Map<string, SkippedPath['reason']>;
  readonly createdAt?: number | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}
