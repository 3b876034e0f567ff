import type { Parser } from '../parser/parser.ts';
import type { Read } from '../thread/messages.ts';
import { configurationHint } from '../view/hint.ts';
import type { Unread } from '../view/view.ts';
import type { Snapshots } from './snapshots.ts';

/** Bytes of the largest parsed file. */
const maxFileBytes = 1024 * 1024;
/** Bytes of the longest configuration. A longer configuration counts as absent. */
const maxConfigurationBytes = 256 * 1024;
/** Files in the parser at a time: the parser never waits for the next file. */
const maxOpen = 4;
/** Facts are written together: a transaction takes as long as a hundred files. */
const batchFiles = 64;
const batchBytes = 4 * 1024 * 1024;

export interface ReadDeps {
  snapshots: Snapshots;
  parser: Parser;
  /** Writes the read blobs. Resolves to the positions of refused lines. */
  keep(read: Read[]): Promise<readonly number[]>;
  onRead(files: number): void;
}

/** Reads, parses and keeps blobs, in batches. A later failure or abort leaves the facts of finished batches. */
export async function readBlobs(
  deps: ReadDeps,
  { runId, blobs, signal }: { runId: string; blobs: readonly Unread[]; signal: AbortSignal },
): Promise<void> {
  const open = new Set<Promise<void>>();
  let batch: Read[] = [];
  let bytes = 0;
  let failure: { error: unknown } | undefined;
  const flush = async () => {
    const read = batch;
    [batch, bytes] = [[], 0];
    if (read.length === 0) return;
    // The thread takes over the lines, so refused blobs are described again without their lines.
    const about = read.map(({ line: _, ...one }) => one);
    const refused = await deps.keep(read);
    if (refused.length > 0) {
      await deps.parser.end();
      await deps.keep(
        about.filter((_, index) => refused.includes(index)).map((one) => ({ ...one, reason: 'parser_failed' })),
      );
    }
    deps.onRead(read.length);
  };
  const add = async (read: Read) => {
    batch.push(read);
    bytes += read.line?.length ?? 0;
    if (batch.length >= batchFiles || bytes >= batchBytes) await flush();
  };
  const oids = blobs.map(({ oid }) => oid);
  const onContent = async ({
    index,
    bytes: size,
    content,
  }: {
    index: number;
    bytes: number;
    content: Buffer | undefined;
  }) => {
    if (failure !== undefined) throw failure.error;
    const blob = blobs[index];
    if (blob === undefined) return;
    const about = { ...blob, bytes: size };
    const known = withoutParser(blob.hint, content);
    if (known !== undefined || content === undefined) return add({ ...about, ...known });
    const parsing: Promise<void> = deps.parser
      .parse(blob.hint, content)
      .then((parsed) => add({ ...about, ...parsed }))
      .catch((error: unknown) => {
        failure ??= { error };
      })
      .finally(() => open.delete(parsing));
    open.add(parsing);
    if (open.size >= maxOpen) await Promise.race(open);
  };
  try {
    await deps.snapshots.contents({ runId, oids, maxBytes: maxFileBytes, onContent, signal });
  } finally {
    await Promise.all(open);
    await flush();
  }
  if (failure !== undefined) throw failure.error;
}

function withoutParser(hint: string, content: Buffer | undefined): Pick<Read, 'reason' | 'text'> | undefined {
  if (content === undefined) return { reason: 'too_large' };
  if (hint !== configurationHint) return undefined;
  return content.length > maxConfigurationBytes ? { reason: 'too_large' } : { text: content.toString('utf8') };
}
