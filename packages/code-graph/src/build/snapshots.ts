import type { CachePlace } from '../store/open-store.ts';
import type { GivenListing } from '../thread/messages.ts';

/** The source of a graph: the snapshots of a run, never its tree. `Workspaces` has these. */
export interface Snapshots {
  cache(runId: string): Pick<CachePlace, 'path' | 'origin'>;
  /** Throws an error with the code `ESNAPSHOTUNKNOWN` for a snapshot unknown to the run. */
  listing(input: { runId: string; snapshot: string; since: readonly string[] }): Promise<GivenListing>;
  contents(input: {
    runId: string;
    oids: readonly string[];
    maxBytes: number;
    onContent(read: { index: number; bytes: number; content: Buffer | undefined }): Promise<void>;
    signal: AbortSignal;
  }): Promise<void>;
}
