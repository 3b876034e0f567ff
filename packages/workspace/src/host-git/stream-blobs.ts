import { WorkspaceError } from '../errors.ts';
import { bigFileFlags, type Git, type GitOptions, type ObjectReader } from './git.ts';
import { readPieces } from './read-rows.ts';

/** Receives the content of blobs in sequence, in the order of `oids`. */
export interface BlobReceiver {
  /** A blob begins; `size` in bytes. */
  begin(index: number, size: number): void;
  piece(bytes: Buffer): void;
  /** The blob is complete. */
  end(): Promise<void> | void;
}

/**
 * Reads blobs of a bare repository through a single `git cat-file --batch`, in pieces: memory does not grow with file size. No attribute,
 * filter or replacement applies.
 */
export async function streamBlobs(
  deps: { git: Git },
  input: { gitDir: string; oids: readonly string[]; signal?: AbortSignal },
  receiver: BlobReceiver,
): Promise<void> {
  const { gitDir, oids, signal } = input;
  const { objects } = deps.git;
  if (objects !== undefined && oids.length > 0) {
    const parser = createParser({ oids, type: 'blob' }, receiver);
    return parse(objects.read({ gitDir, names: oids, signal }, parser.isDone), parser);
  }
  await streamObjects(deps.git, { at: [`--git-dir=${gitDir}`], oids, type: 'blob', options: { signal } }, receiver);
}

/**
 * Reads objects of any single type in the same way.
 * @param input.at arguments with the repository
 */
export async function streamObjects(
  git: Git,
  input: { at: readonly string[]; oids: readonly string[]; type: 'blob' | 'commit'; options: GitOptions },
  receiver: BlobReceiver,
): Promise<void> {
  if (input.oids.length === 0) return;
  const pieces = readPieces(git, [...bigFileFlags, ...input.at, 'cat-file', '--batch', '--buffer'], {
    ...input.options,
    input: `${input.oids.join('\n')}\n`,
  });
  await parse(pieces, createParser(input, receiver));
}

/** Reads small objects into memory, through a kept program. @param input.names ids, or expressions such as `<commit>^{tree}` */
export async function readObjects(
  objects: ObjectReader,
  input: { gitDir: string; names: readonly string[]; type: 'commit' | 'tree' },
  take: (index: number, content: Buffer) => void,
): Promise<void> {
  const { gitDir, names, type } = input;
  if (names.length === 0) return;
  let pieces: Buffer[] = [];
  let current = 0;
  const receiver: BlobReceiver = {
    begin: (index) => {
      pieces = [];
      current = index;
    },
    piece: (bytes) => void pieces.push(bytes),
    end: () => take(current, Buffer.concat(pieces)),
  };
  const parser = createParser({ oids: names, type }, receiver);
  await parse(objects.read({ gitDir, names }, parser.isDone), parser);
}

interface Parser {
  take(piece: Buffer): Promise<void>;
  isDone(): boolean;
  /** Throws unless all objects are complete. */
  finish(): void;
}

async function parse(pieces: AsyncIterable<Buffer>, parser: Parser): Promise<void> {
  for await (const piece of pieces) await parser.take(piece);
  parser.finish();
}

/** Splits `<oid> <type> <size>\n<content>\n` into blobs. */
function createParser({ oids, type }: { oids: readonly string[]; type: string }, receiver: BlobReceiver): Parser {
  let index = 0;
  let header = Buffer.alloc(0);
  let left: number | undefined;
  const take = async (piece: Buffer): Promise<void> => {
    let rest = piece;
    while (rest.length > 0) {
      if (left === undefined) {
        const end = rest.indexOf(0x0a);
        header = Buffer.concat([header, end === -1 ? rest : rest.subarray(0, end)]);
        rest = end === -1 ? Buffer.alloc(0) : rest.subarray(end + 1);
        if (end === -1) continue;
        left = sizeIn(header.toString('latin1'), type, oids[index]);
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
  };
  const isDone = (): boolean => index === oids.length;
  const finish = (): void => {
    if (isDone()) return;
    throw new WorkspaceError('EWORKSPACECORRUPT', `git exited before the ${type} ${oids[index]} of the repository.`);
  };
  return { take, isDone, finish };
}

function sizeIn(header: string, type: string, oid: string | undefined): number {
  const [id, found, size] = header.split(' ');
  // git names the object behind an expression by its id.
  const isAsked = id === oid || oid?.includes('^') === true;
  if (isAsked && found === type && /^\d+$/.test(size ?? '')) return Number(size);
  throw new WorkspaceError('EWORKSPACECORRUPT', `The ${type} ${oid} is not in the repository: ${header}`);
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
