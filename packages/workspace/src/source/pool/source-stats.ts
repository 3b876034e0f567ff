import { createHash, randomBytes } from 'node:crypto';
import { closeSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, statfsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { z } from 'zod';
import { errnoOf } from '../../errors.ts';
import { createYielder, fromText, toText, writeAll } from '../../files/index.ts';
import { type FileStatus, fileSystemClock, type TreeContent } from '../../tree/index.ts';
import { statusOf } from '../../tree/learner.ts';

/** The files of a source with their status at the last read, and the tree made of them. */
export interface SourceStats {
  /** The source's content at the last read. */
  readonly content: TreeContent;
  /** The content of a file with this status, if known for sure. */
  known(path: string, status: FileStatus): string | undefined;
  /** Records a just read file, if its status will change with its content. */
  learn(path: string, status: BigInt64Array, oid: string): void;
  /** Writes the files confirmed by `known` and added by `learn`. */
  save(content: TreeContent): Promise<void>;
}

/** `oid size mtimeNs ctimeNs ino dev mode` by path. As text, 100,000 take a third of the memory of numbers. */
type Rows = Map<string, string>;

/**
 * A status is evidence of the content only where each write changes the status:
 * - Network and in-memory file systems are left out: their clock differs, or a mapped write changes nothing. Here are ext, xfs, btrfs,
 *   overlayfs, f2fs and zfs.
 * - A file changed within the clock tick of its read keeps its status, so its ctime must lie before the read; on file systems with times in
 *   seconds, a second before.
 * - A page made dirty through a mapping can be written again without a change of times until the kernel has written the page out. So a file is
 *   trusted when its last change is older than `settleNs` at the read: each page was clean then, and the next write to a page sets the times.
 */
const localFileSystems: readonly number[] = [0xef53, 0x58465342, 0x9123683e, 0x794c7630, 0xf2f52010, 0x2fc12fc1];
const second = 1_000_000_000n;

/** Twice the kernel's delay before writing out a dirty page. */
function settleNs(): bigint {
  const centiseconds = ['dirty_expire_centisecs', 'dirty_writeback_centisecs'].map((name) => {
    try {
      return Number(readFileSync(`/proc/sys/vm/${name}`, 'latin1'));
    } catch {
      return 6000;
    }
  });
  return 20_000_000n * BigInt(centiseconds.reduce((sum, one) => sum + one, 0));
}

/** @returns undefined when the status of the source's files proves nothing, or when `isKnown` was asked and nothing is known */
export async function openSourceStats(input: {
  folder: string;
  source: string;
  clock: string;
  isKnown: boolean;
}): Promise<SourceStats | undefined> {
  if (!localFileSystems.includes(statfsSync(input.source).type)) return undefined;
  const { dev } = statSync(input.source, { bigint: true });
  const path = join(input.folder, 'stats');
  const read = input.isKnown ? await readStats(path) : undefined;
  if (input.isKnown && read === undefined) return undefined;
  const former: Rows = read?.files ?? new Map();
  const files: Rows = new Map();
  let learned = 0;
  const clock = fileSystemClock({ clock: input.clock });
  const settle = settleNs();
  const isSettled = ({ ctimeNs, dev: at }: FileStatus): boolean => {
    const tick = ctimeNs % second === 0n ? second : 0n;
    return at === dev && ctimeNs + tick < clock && ctimeNs + settle < clock;
  };
  return {
    content: read?.content ?? nothing,
    known: (file, status) => {
      const row = former.get(file);
      if (row === undefined || !isSame(row, status)) return undefined;
      files.set(file, row);
      return row.slice(0, idLength);
    },
    learn: (file, numbers, oid) => {
      const status = statusOf(numbers);
      if (!isSettled(status)) return;
      const { size, mtimeNs, ctimeNs, ino, dev, mode } = status;
      files.set(file, `${oid} ${size} ${mtimeNs} ${ctimeNs} ${ino} ${dev} ${mode}`);
      learned += 1;
    },
    save: async (content) => {
      const isUnchanged = learned === 0 && files.size === former.size && content.tree === read?.content.tree;
      if (!isUnchanged) await writeStats(path, { content, files });
    },
  };
}

const nothing: TreeContent = {
  ...{ tree: '', permissions: { usual: { file: 0, executable: 0, folder: 0 }, others: new Map() }, empty: [] },
};

const idLength = 40;

function isSame(row: string, { size, mtimeNs, ctimeNs, ino, dev, mode }: FileStatus): boolean {
  const fields = row.slice(idLength + 1).split(' ');
  return [size, mtimeNs, ctimeNs, ino, dev, mode].every((value, index) => value === BigInt(fields[index] ?? -1));
}

const bits = z.int().min(0).max(0o777);
const contentSchema = z.strictObject({
  tree: z.string().regex(/^[0-9a-f]{40}$/),
  permissions: z.strictObject({
    usual: z.strictObject({ file: bits, executable: bits, folder: bits }),
    others: z.array(z.tuple([z.string(), bits])),
  }),
  empty: z.array(z.string()),
});

const title = 'holdpoint-source 1';

/** Replaces the file as a whole. Not fsynced: a torn file fails its checksum, and is not read. */
async function writeStats(path: string, { content, files }: { content: TreeContent; files: Rows }): Promise<void> {
  const { tree, permissions, empty } = content;
  const others = [...permissions.others].map(([file, mode]) => [toText(file), mode] as [string, number]);
  const head: z.infer<typeof contentSchema> = {
    ...{ tree, permissions: { usual: permissions.usual, others }, empty: empty.map(toText) },
  };
  const temporary = `${path}.${randomBytes(6).toString('hex')}`;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const fd = openSync(temporary, 'wx', 0o600);
    try {
      const hash = createHash('sha1');
      const write = (bytes: Buffer) => {
        hash.update(bytes);
        writeAll(fd, bytes);
      };
      writeAll(fd, Buffer.alloc(firstLine('').length));
      write(Buffer.from(`${JSON.stringify(head)}\n`));
      for (const piece of piecesOf(files)) {
        write(Buffer.from(piece, 'latin1'));
        await setImmediate();
      }
      writeAll(fd, Buffer.from(firstLine(hash.digest('hex'))), 0);
    } finally {
      closeSync(fd);
    }
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    // Maintenance removed the source's folder at this moment.
    if (errnoOf(error) !== 'ENOENT') throw error;
  }
}

/** The checksum of everything behind the line. */
const firstLine = (checksum: string): string => `${title} ${checksum.padEnd(40)}\n`;

/** About 4,000 rows at a time. */
const pieceLength = 512 * 1024;

function* piecesOf(files: Rows): Generator<string> {
  let piece = '';
  for (const [file, row] of files) {
    piece += `${row} ${file}\0`;
    if (piece.length < pieceLength) continue;
    yield piece;
    piece = '';
  }
  yield piece;
}

async function readStats(path: string): Promise<{ content: TreeContent; files: Rows } | undefined> {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
  const start = bytes.indexOf(0x0a) + 1;
  const body = bytes.subarray(start);
  if (bytes.toString('latin1', 0, start) !== firstLine(createHash('sha1').update(body).digest('hex'))) return undefined;
  const end = body.indexOf(0x0a);
  const head = contentSchema.parse(JSON.parse(body.toString('utf8', 0, end)));
  const others = new Map(head.permissions.others.map(([file, mode]) => [fromText(file), mode]));
  const files: Rows = new Map();
  const maybeYield = createYielder();
  for (let at = end + 1, next = body.indexOf(0, at); next !== -1; at = next + 1, next = body.indexOf(0, at)) {
    addRow(files, body.toString('latin1', at, next));
    const pause = maybeYield();
    if (pause !== undefined) await pause;
  }
  const permissions = { usual: head.permissions.usual, others };
  return { content: { tree: head.tree, permissions, empty: head.empty.map(fromText) }, files };
}

/** The path is behind the seventh space. */
function addRow(files: Rows, text: string): void {
  let space = -1;
  for (let field = 0; field < 7; field++) space = text.indexOf(' ', space + 1);
  files.set(text.slice(space + 1), text.slice(0, space));
}
