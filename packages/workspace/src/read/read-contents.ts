import { type Call, type Deps, WorkspaceError } from '../deps.ts';
import { streamBlobs } from '../host-git/stream-blobs.ts';
import { requireRecord, runFolder } from '../run-folder/index.ts';

/** git is stopped before sending more useless bytes than this: git cannot skip a blob. */
const skippedBytes = 8 * 1024 * 1024;

/** A blob so far over the limit as to justify a restart of git behind the blob. */
class TooLarge extends Error {}

/** Contents of blobs, in the order of their ids. A blob larger than `maxBytes` has its size alone. */
export async function readContents(
  deps: Deps,
  { runId, oids, maxBytes, signal, onContent }: Call<'contents'>,
): Promise<void> {
  const folder = runFolder(deps.dataDir, runId);
  requireRecord(folder);
  for (let done = 0; done < oids.length; ) {
    let size = 0;
    let pieces: Buffer[] = [];
    const give = async (content: Buffer | undefined) => {
      const index = done++;
      await onContent({ index, bytes: size, content });
    };
    const receiver = {
      begin(_: number, bytes: number) {
        size = bytes;
        pieces = [];
        if (bytes > maxBytes + skippedBytes) throw new TooLarge();
      },
      piece(bytes: Buffer) {
        if (size <= maxBytes) pieces.push(bytes);
      },
      end: () => give(size <= maxBytes ? Buffer.concat(pieces) : undefined),
    };
    try {
      await streamBlobs(deps, { gitDir: folder.shadow, oids: oids.slice(done), signal }, receiver);
    } catch (error) {
      if (!(error instanceof TooLarge)) throw missing(error, runId);
      await give(undefined);
    }
  }
}

/** The run may have been discarded while git was reading. */
const missing = (error: unknown, runId: string) =>
  error instanceof WorkspaceError && error.code === 'EGITFAILED'
    ? new WorkspaceError('EWORKSPACEMISSING', `The workspace of ${runId} could not be read: ${error.message}`, {
        cause: error,
      })
    : error;
