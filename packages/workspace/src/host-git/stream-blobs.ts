import { WorkspaceError } from '../errors.ts';
import { bigFileFlags, type Git } from './git.ts';

/** Receives the content of blobs one after the other, in the order of `oids`. */
export interface BlobReceiver {
  /** A blob begins; `size` in bytes. */
  begin(index: number, size: number): void;
  piece(bytes: Buffer): void;
  /** The blob is complete. */
  end(): Promise<void> | void;
}

/**
 * Reads blobs of a bare repository through one `git cat-file --batch`, in pieces, so that memory does not grow with file size.
 * No attribute, filter or replacement applies.
 */
export async function streamBlobs(
  deps: { git: Git },
  input: { gitDir: string; oids: readonly string[]; signal?: AbortSignal },
  receiver: BlobReceiver,
): Promise<void> {
  if (input.oids.length === 0) return;
  const { stdin, stdout, done, kill } = deps.git.stream(
    [...bigFileFlags, `--git-dir=${input.gitDir}`, 'cat-file', '--batch', '--buffer'],
    { signal: input.signal },
  );
  stdin.on('error', () => {});
  stdin.end(`${input.oids.join('\n')}\n`);
  try {
    await parse(stdout, input.oids, receiver);
  } catch (error) {
    kill();
    await done.catch(() => {});
    input.signal?.throwIfAborted();
    throw error;
  }
  await done;
}

/** Splits `<oid> <type> <size>\n<content>\n` into blobs. */
async function parse(stdout: AsyncIterable<unknown>, oids: readonly string[], receiver: BlobReceiver): Promise<void> {
  let index = 0;
  let header = Buffer.alloc(0);
  let left: number | undefined;
  for await (const chunk of stdout) {
    let rest = Buffer.from(chunk as Uint8Array);
    while (rest.length > 0) {
      if (left === undefined) {
        const end = rest.indexOf(0x0a);
        header = Buffer.concat([header, end === -1 ? rest : rest.subarray(0, end)]);
        rest = end === -1 ? Buffer.alloc(0) : rest.subarray(end + 1);
        if (end === -1) continue;
        left = sizeIn(header.toString('latin1'), oids[index]);
        header = Buffer.alloc(0);
        receiver.begin(index, left);
      } else if (left > 0) {
        const taken = rest.subarray(0, left);
        receiver.piece(taken);
        left -= taken.length;
        rest = rest.subarray(taken.length);
      } else {
        await receiver.end();
        index += 1;
        left = undefined;
        rest = rest.subarray(1);
      }
    }
  }
  if (index === oids.length) return;
  throw new WorkspaceError('EWORKSPACECORRUPT', `git exited before blob ${oids[index]} of the shadow repository.`);
}

function sizeIn(header: string, oid: string | undefined): number {
  const match = /^([0-9a-f]{40}) blob (\d+)$/.exec(header);
  if (match?.[1] === oid && match?.[2] !== undefined) return Number(match[2]);
  throw new WorkspaceError('EWORKSPACECORRUPT', `Blob ${oid} is not in the shadow repository: ${header}`);
}

/** Sizes of blobs in bytes, by id. */
export async function blobSizes(
  deps: { git: Git },
  input: { gitDir: string; oids: Iterable<string> },
): Promise<Map<string, number>> {
  const oids = [...new Set(input.oids)];
  if (oids.length === 0) return new Map();
  const args = [`--git-dir=${input.gitDir}`, 'cat-file', '--buffer', '--batch-check=%(objectsize)'];
  const { stdout } = await deps.git.run(args, { input: `${oids.join('\n')}\n`, maxBytes: 256 * 1024 * 1024 });
  const rows = stdout.toString('latin1').split('\n');
  return new Map(
    oids.map((oid, index) => {
      const size = Number(rows[index]);
      if (rows[index] === '' || !Number.isSafeInteger(size)) {
        throw new WorkspaceError('EWORKSPACECORRUPT', `Blob ${oid} is not in the shadow repository: ${rows[index]}`);
      }
      return [oid, size];
    }),
  );
}
