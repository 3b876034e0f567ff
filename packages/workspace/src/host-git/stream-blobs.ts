import { WorkspaceError } from '../errors.ts';
import { createYielder } from '../files/index.ts';
import { bigFileFlags, type Git, type GitOptions, type ObjectQuery, type ObjectReader } from './git.ts';

export interface RowsOptions extends Omit<GitOptions, 'maxBytes'> {
  /** The byte after each row. @default 0 */
  end?: number;
  /** Throws ETOOMANYFILES for more rows. @default 2,000,000 */
  most?: number;
}

export const mostRows = 2_000_000;

/** The most rows of a tree: globs may select a run's files and folders from a larger repository. */
export const mostListed = ({ entries }: { entries: number }): number => 4 * entries;

/** A longer row is not read: a path of 200 folders with the longest names has 51,200 bytes. */
export const mostRowBytes = 64 * 1024;

/**
 * Reads git's listing, some rows at a time: ten objects of git can list 10⁹ paths. git is killed when the caller stops, when the signal aborts
 * and at the limits.
 * @throws WorkspaceError ETOOMANYFILES, ESOURCEPATHS
 */
export async function* readRows(
  git: Git,
  args: readonly string[],
  options: RowsOptions = {},
): AsyncGenerator<string[]> {
  const { end = 0, most = mostRows } = options;
  let count = 0;
  let rest: Buffer = Buffer.alloc(0);
  for await (const piece of readPieces(git, args, options)) {
    const bytes = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
    const rows: string[] = [];
    let from = 0;
    for (let at = bytes.indexOf(end); at !== -1; from = at + 1, at = bytes.indexOf(end, from)) {
      rows.push(bytes.toString('latin1', from, at));
    }
    rest = bytes.subarray(from);
    count += rows.length;
    yield rows;
    if (count > most) throw tooMany(most);
    if (rest.length > mostRowBytes) throw tooLong(rest);
  }
}

/** Reads the output of git piece by piece. git is killed when the caller stops, and when the signal aborts. */
export async function* readPieces(
  git: Git,
  args: readonly string[],
  options: Omit<GitOptions, 'maxBytes'> = {},
): AsyncGenerator<Buffer> {
  const { stdin, stdout, done, kill } = git.stream(args, options);
  stdin.on('error', () => {});
  stdin.end(options.input);
  const maybeYield = createYielder(options.signal);
  let isWhole = false;
  try {
    for await (const piece of stdout as AsyncIterable<Uint8Array>) {
      yield Buffer.from(piece.buffer, piece.byteOffset, piece.length);
      const pause = maybeYield();
      if (pause !== undefined) await pause;
    }
    isWhole = true;
  } finally {
    if (!isWhole) {
      kill();
      await done.catch(() => {});
      options.signal?.throwIfAborted();
    }
  }
  await done;
}

export const tooMany = (most: number): WorkspaceError =>
  new WorkspaceError('ETOOMANYFILES', `git lists more than ${most} entries.`);

export function tooLong(row: Buffer): WorkspaceError {
  const begin = row.toString('latin1', 0, 200);
  return new WorkspaceError('ESOURCEPATHS', `git lists a path of more than ${mostRowBytes} bytes: ${begin}…`);
}

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
