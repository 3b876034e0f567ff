import type { UnknownContent } from '@holdpoint/contract';
import * as wire from '@holdpoint/contract/wire';
import type { Transport } from '../request.ts';
import { at, type Options, type PageQuery } from './request-parts.ts';

/** Snapshots are named by their ids, by steps (number or id), or as `source` and `current`. */
interface Snapshots {
  /** @default source: the snapshot the run began with */
  from?: string | undefined;
  /** @default current: the snapshot the run is at */
  to?: string | undefined;
  path?: string | undefined;
  /** Includes paths ignored by the rules of a git source. @default the run's own setting */
  include_ignored?: boolean | undefined;
}

export function fileRequests(transport: Transport) {
  const { ask } = transport;
  return {
    diff: async (runId: string, query: Snapshots = {}, { signal }: Options = {}): Promise<wire.Diff> =>
      (await ask({ path: at('runs', runId, '/diff'), query: { ...query }, signal }, wire.diffSchema)).body,

    /** The changed files without their lines, of a change set of any size. `diff` with `path` has the lines of one file. */
    diffStat: async (runId: string, query: Snapshots = {}, { signal }: Options = {}): Promise<wire.DiffStat> =>
      (await ask({ path: at('runs', runId, '/diff'), query: { ...query, stat: true }, signal }, wire.diffStatSchema))
        .body,

    /** Text for `git apply`. */
    patch: async (runId: string, query: Snapshots = {}, { signal }: Options = {}): Promise<string> =>
      transport.askText({ path: at('runs', runId, '/diff'), query: { ...query, format: 'patch' }, signal }),

    /** The states of the workspace, oldest first, unless `order` is desc. */
    listSnapshots: async (
      runId: string,
      query: PageQuery & { order?: 'asc' | 'desc' | undefined } = {},
      { signal }: Options = {},
    ): Promise<wire.Page<wire.Snapshot>> =>
      (await ask({ path: at('runs', runId, '/snapshots'), query: { ...query }, signal }, wire.snapshotPageSchema)).body,

    /** The files of a snapshot, by default the present snapshot of the run. `path`: only this file, or the content of this folder. */
    listFiles: async (
      runId: string,
      query: { snapshot?: string | undefined; path?: string | undefined } = {},
      { signal }: Options = {},
    ): Promise<wire.FileEntry[]> =>
      (await ask({ path: at('runs', runId, '/files'), query: { ...query }, signal }, wire.fileListSchema)).body.data,

    /** Content of the workspace outside of every snapshot, because no snapshot can hold the content. */
    async listUnknown(
      runId: string,
      query: { snapshot?: string | undefined; path?: string | undefined } = {},
      { signal }: Options = {},
    ): Promise<UnknownContent[]> {
      const path = at('runs', runId, '/files');
      return (await ask({ path, query: { ...query }, signal }, wire.fileListSchema)).body.unknown;
    },

    /** The bytes of a file. Read them to their end, or end the loop: until then the connection is taken. */
    readFile: async (
      runId: string,
      query: { path: string; snapshot?: string | undefined },
      { signal }: Options = {},
    ): Promise<AsyncGenerator<Uint8Array>> =>
      transport.askBytes({ path: at('runs', runId, '/files/content'), query: { ...query }, signal }),

    /**
     * The bytes of an archive with the files of a snapshot. Read all bytes, or end the loop.
     * @param query.only `changed`: files added or changed by the run. @default all
     * @param query.format @default tar.gz
     */
    downloadArchive: async (
      runId: string,
      query: { snapshot?: string | undefined; only?: 'all' | 'changed'; format?: 'tar.gz' | 'zip' } = {},
      { signal }: Options = {},
    ): Promise<AsyncGenerator<Uint8Array>> =>
      transport.askBytes({ path: at('runs', runId, '/archive'), query: { ...query }, signal }),
  };
}
