import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { errnoOf } from '../errors.ts';
import { fromText, toText } from '../files/index.ts';
import type { LayerContent } from '../layers/index.ts';
import { statusOf } from '../materialise/learner.ts';
import { type FileStatus, fileSystemClock } from '../tree/index.ts';

/** The files of a source with their status when they were read last, and the tree that they made. */
export interface SourceStats {
  /** What the source held when it was read last. */
  readonly content: LayerContent;
  /** The content of a file with this status, if known for sure. */
  known(path: string, status: FileStatus): string | undefined;
  /** Records a file that was just read, if its status will change with its content. */
  learn(path: string, status: BigInt64Array, oid: string): void;
  /** Writes the files that `known` confirmed and `learn` added. */
  save(content: LayerContent): void;
}

type Known = FileStatus & { oid: string };

/**
 * A status says something about content only where each write changes it:
 * - Network and in-memory file systems are left out: their clock is another one, or a mapped write changes nothing. Here are ext, xfs, btrfs,
 *   overlayfs, f2fs and zfs.
 * - A file changed within the clock tick in which it was read keeps its status, so its ctime must lie before the read; on file systems that
 *   count seconds, a second before.
 * - A page that is dirty through a mapping can be written again without a change of times until the kernel has written it out. So a file is
 *   trusted when its last change is older than `settleNs` at the read: each page was clean then, and the next write to it sets the times.
 */
const localFileSystems: readonly number[] = [0xef53, 0x58465342, 0x9123683e, 0x794c7630, 0xf2f52010, 0x2fc12fc1];
const second = 1_000_000_000n;

/** Twice the time after which the kernel writes out a dirty page. */
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
export function openSourceStats(input: {
  folder: string;
  source: string;
  clock: string;
  isKnown: boolean;
}): SourceStats | undefined {
  if (!localFileSystems.includes(statfsSync(input.source).type)) return undefined;
  const { dev } = statSync(input.source, { bigint: true });
  const path = join(input.folder, 'stats');
  const read = input.isKnown ? readStats(path) : undefined;
  if (input.isKnown && read === undefined) return undefined;
  const former = read?.files ?? new Map<string, Known>();
  const files = new Map<string, Known>();
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
      const entry = former.get(file);
      if (entry === undefined || !isSame(entry, status)) return undefined;
      files.set(file, entry);
      return entry.oid;
    },
    learn: (file, numbers, oid) => {
      const status = statusOf(numbers);
      if (!isSettled(status)) return;
      files.set(file, { ...status, oid });
      learned += 1;
    },
    save: (content) => {
      const isUnchanged = learned === 0 && files.size === former.size && content.tree === read?.content.tree;
      if (!isUnchanged) writeStats(path, { content, files });
    },
  };
}

const nothing: LayerContent = {
  ...{ tree: '', permissions: { usual: { file: 0, executable: 0, folder: 0 }, others: new Map() }, empty: [] },
};

const isSame = (a: FileStatus, b: FileStatus): boolean =>
  a.mtimeNs === b.mtimeNs &&
  a.ctimeNs === b.ctimeNs &&
  a.size === b.size &&
  a.ino === b.ino &&
  a.dev === b.dev &&
  a.mode === b.mode;

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

/** Replaces the file as a whole. Not fsynced: a torn one fails its checksum, and is not read. */
function writeStats(
  path: string,
  { content, files }: { content: LayerContent; files: ReadonlyMap<string, Known> },
): void {
  const { tree, permissions, empty } = content;
  const others = [...permissions.others].map(([file, mode]) => [toText(file), mode] as [string, number]);
  const head: z.infer<typeof contentSchema> = {
    ...{ tree, permissions: { usual: permissions.usual, others }, empty: empty.map(toText) },
  };
  const rows = [...files].map(([file, { oid, size, mtimeNs, ctimeNs, ino, dev, mode }]) => {
    return `${oid} ${size} ${mtimeNs} ${ctimeNs} ${ino} ${dev} ${mode} ${file}\0`;
  });
  const body = Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), Buffer.from(rows.join(''), 'latin1')]);
  const temporary = `${path}.${randomBytes(6).toString('hex')}`;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(temporary, Buffer.concat([Buffer.from(`${title} ${sha1(body)}\n`), body]), { mode: 0o600 });
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    // Maintenance removed the source's folder at this moment.
    if (errnoOf(error) !== 'ENOENT') throw error;
  }
}

function readStats(path: string): { content: LayerContent; files: Map<string, Known> } | undefined {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
  const start = bytes.indexOf(0x0a) + 1;
  const body = bytes.subarray(start);
  if (bytes.toString('latin1', 0, start) !== `${title} ${sha1(body)}\n`) return undefined;
  const end = body.indexOf(0x0a);
  const head = contentSchema.parse(JSON.parse(body.toString('utf8', 0, end)));
  const others = new Map(head.permissions.others.map(([file, mode]) => [fromText(file), mode]));
  const files = new Map<string, Known>();
  for (const row of body.toString('latin1', end + 1).split('\0')) if (row !== '') addRow(files, row);
  const permissions = { usual: head.permissions.usual, others };
  return { content: { tree: head.tree, permissions, empty: head.empty.map(fromText) }, files };
}

function addRow(files: Map<string, Known>, row: string): void {
  const [oid = '', ...fields] = row.split(' ', 7);
  const [size = 0n, mtimeNs = 0n, ctimeNs = 0n, ino = 0n, dev = 0n, mode = 0n] = fields.map(BigInt);
  const path = row.slice(oid.length + fields.reduce((sum, field) => sum + field.length + 1, 0) + 1);
  files.set(path, { oid, size, mtimeNs, ctimeNs, ino, dev, mode });
}

const sha1 = (bytes: Uint8Array): string => createHash('sha1').update(bytes).digest('hex');
