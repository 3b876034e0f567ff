import { WorkspaceError } from '../errors.ts';
import { bigFileFlags, type Git, type ObjectQuery, type ObjectReader } from './git.ts';
import { readPieces } from './read-rows.ts';

/** Receives the content of blobs in sequence, in the order of `oids`. */
export interface BlobReceiver {
  /** A blob begins; `size` in bytes, `id` as git names the object. */
  begin(index: number, size: number, id: string): void;
  piece(bytes: Buffer): void;
  /** The blob is complete. */
  end(): Promise<void> | void;
}

/**
 * Reads blobs of a bare repository through a single `git cat-file`, in pieces: memory does not grow with file size. No attribute, filter or
 * replacement applies.
 */
export async function streamBlobs(
  { git }: { git: Git },
  input: { gitDir: string; oids: readonly string[]; signal?: AbortSignal },
  receiver: BlobReceiver,
): Promise<void> {
  const { gitDir, oids, signal } = input;
  if (oids.length === 0) return;
  const parser = createParser({ oids, type: 'blob' }, receiver);
  if (git.objects !== undefined) return parse(git.objects.read({ gitDir, names: oids, signal }, parser.isDone), parser);
  const args = [...bigFileFlags, `--git-dir=${gitDir}`, 'cat-file', '--batch', '--buffer'];
  await parse(readPieces(git, args, { signal, input: `${oids.join('\n')}\n` }), parser);
}

export interface SmallQuery extends Omit<ObjectQuery, 'what'> {
  type: 'commit' | 'tree' | 'blob';
  /** Throws EDIFFTOOLARGE for a larger object. @default no limit */
  mostBytes?: number;
}

/** Reads small objects into memory, through a kept program. @param input.names ids, or expressions such as `<commit>^{tree}` */
export async function readObjects(
  objects: ObjectReader,
  { type, mostBytes, ...query }: SmallQuery,
  take: (index: number, content: Buffer, id: string) => void,
): Promise<void> {
  const { names } = query;
  if (names.length === 0) return;
  let pieces: Buffer[] = [];
  let [current, id] = [0, ''];
  const receiver: BlobReceiver = {
    begin: (index, size, named) => {
      if (mostBytes !== undefined && size > mostBytes)
        throw new WorkspaceError('EDIFFTOOLARGE', `The ${type} ${named} has more than ${mostBytes} bytes.`);
      [pieces, current, id] = [[], index, named];
    },
    piece: (bytes) => void pieces.push(bytes),
    end: () => take(current, Buffer.concat(pieces), id),
  };
  const parser = createParser({ oids: names, type }, receiver);
  await parse(objects.read(query, parser.isDone), parser);
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
        const found = readHeader(header.toString('latin1'), type, oids[index]);
        header = Buffer.alloc(0);
        left = found.size;
        receiver.begin(index, left, found.id);
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

function readHeader(header: string, type: string, asked: string | undefined): { id: string; size: number } {
  const [id = '', found, size] = header.split(' ');
  // git names the object behind an expression by its id.
  const isAsked = id === asked || asked?.includes('^') === true;
  if (isAsked && found === type && /^\d+$/.test(size ?? '')) return { id, size: Number(size) };
  throw new WorkspaceError('EWORKSPACECORRUPT', `The ${type} ${asked} is not in the repository: ${header}`);
}

/** Sizes of blobs in bytes, by id. */
export async function blobSizes(
  deps: { git: Git },
  input: { gitDir: string; oids: Iterable<string> },
): Promise<Map<string, number>> {
  const oids = [...new Set(input.oids)];
  const rows = await describeObjects(deps, { gitDir: input.gitDir, oids });
  return new Map(
    oids.map((oid, index) => {
      const [, , size] = rows[index]?.split(' ') ?? [];
      if (size === undefined || !/^\d+$/.test(size)) {
        throw new WorkspaceError('EWORKSPACECORRUPT', `Blob ${oid} is not in the shadow repository: ${rows[index]}`);
      }
      return [oid, Number(size)];
    }),
  );
}

/** A row of id, type and size for each object, from a kept program where the operation has one; `<id> missing` for a lost object. */
export async function describeObjects(
  { git }: { git: Git },
  { gitDir, oids }: { gitDir: string; oids: readonly string[] },
): Promise<string[]> {
  if (oids.length === 0) return [];
  if (git.objects === undefined) {
    const args = [`--git-dir=${gitDir}`, 'cat-file', '--buffer', '--batch-check'];
    const { stdout } = await git.run(args, { input: `${oids.join('\n')}\n`, maxBytes: 256 * 1024 * 1024 });
    return stdout.toString('latin1').split('\n');
  }
  return readInfo(git.objects, { gitDir, names: oids });
}

/** A row of id, type and size for each name, from a kept program. */
export async function readInfo(objects: ObjectReader, query: Omit<ObjectQuery, 'what'>): Promise<string[]> {
  if (query.names.length === 0) return [];
  const pieces: Buffer[] = [];
  let rows = 0;
  const isDone = (): boolean => rows === query.names.length;
  for await (const piece of objects.read({ ...query, what: 'info' }, isDone)) {
    for (let at = piece.indexOf(0x0a); at !== -1; at = piece.indexOf(0x0a, at + 1)) rows += 1;
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString('latin1').split('\n');
}
