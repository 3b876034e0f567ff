import { randomBytes } from 'node:crypto';
import { closeSync, fdatasync, fstatSync, mkdirSync, openSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { errnoOf, unlessMissing } from '../../errors.ts';
import { syncPath, writeAll } from '../../files/index.ts';
import type { Logger } from '../../port/logger.ts';
import type { Holder } from '../../run-folder/tree-head.ts';
import { encodeRecord, type JournalRecord } from './record.ts';

/**
 * A file of the shadow repository for the snapshots of a single process: an fsync makes a snapshot durable, objects and name together. Its
 * objects and its ref are also written as separate files without fsync (`show.ts`), for git. After a power cut only the journal counts
 * (`recover-snapshots.ts`).
 */
export interface Journal {
  readonly path: string;
  /** The boot and the process of the writer. */
  readonly boot: string;
  readonly process: string;
}

/** The process of a journal: its data directory, its identity, its log. */
export interface JournalDeps {
  /** Real path of the data directory. */
  readonly dataDir: string;
  readonly holder: Holder;
  readonly logger: Logger;
  /** Called at named points between durable steps. */
  readonly onPoint: (point: string) => void;
}

const fdatasyncAsync = promisify(fdatasync);
const folderOf = (shadow: string): string => join(shadow, 'journal');

interface Open {
  readonly journal: Journal;
  records: number;
  bytes: number;
}

/** The journals of this process, by shadow repository. Another process never writes to them. */
const open = new Map<string, Open>();
const mostOpen = 1000;
/** Beyond either limit the journal is folded. git opens the index of each pack, so there should be few. */
const most = { records: 64, bytes: 4 * 1024 * 1024 };

/** Makes a snapshot durable. @returns the journal when due for a fold: nothing is appended any more */
export async function appendToJournal(
  shadow: string,
  holder: Holder,
  record: JournalRecord,
): Promise<Journal | undefined> {
  const to = journalOf(shadow, holder);
  const bytes = encodeRecord(record);
  try {
    await append(to.journal.path, bytes);
  } catch (error) {
    // Records behind a torn record would not be read.
    open.delete(shadow);
    throw error;
  }
  to.records += 1;
  to.bytes += bytes.length;
  if (to.records < most.records && to.bytes < most.bytes) return undefined;
  closeJournal(shadow);
  return to.journal;
}

/** The next snapshot of this process begins another journal. */
export function closeJournal(shadow: string): void {
  open.delete(shadow);
}

function journalOf(shadow: string, { boot, process }: Holder): Open {
  const kept = open.get(shadow);
  open.delete(shadow);
  const isOwn = kept?.journal.boot === boot && kept.journal.process === process;
  const name = [boot, process, randomBytes(6).toString('hex')].join('~');
  const journal = { path: join(folderOf(shadow), name), boot, process };
  const to = kept !== undefined && isOwn ? kept : { journal, records: 0, bytes: 0 };
  open.set(shadow, to);
  for (const oldest of open.keys()) if (open.size > mostOpen) open.delete(oldest);
  return to;
}

async function append(path: string, bytes: Buffer): Promise<void> {
  const fd = openToAppend(path);
  try {
    const isNew = fstatSync(fd).size === 0;
    writeAll(fd, bytes);
    // The time stamps, written only by a full fsync, do not matter.
    await Promise.all([fdatasyncAsync(fd), isNew ? syncNames(path) : undefined]);
  } finally {
    closeSync(fd);
  }
}

function openToAppend(path: string): number {
  try {
    return openSync(path, 'a', 0o600);
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
    // Not recursive: a discarded run stays gone.
    mkdirSync(dirname(path), { mode: 0o700 });
    return openSync(path, 'a', 0o600);
  }
}

async function syncNames(path: string): Promise<void> {
  const folder = dirname(path);
  await Promise.all([syncPath(folder), syncPath(dirname(folder))]);
}

/** Every journal of a shadow repository. */
export function journalsIn(shadow: string): Journal[] {
  let names: string[];
  try {
    names = readdirSync(folderOf(shadow));
  } catch (error) {
    names = unlessMissing<string[]>([], ['ENOENT', 'ENOTDIR'])(error);
  }
  return names.flatMap((name) => {
    const [boot, process, random] = name.split('~');
    if (boot === undefined || process === undefined || random === undefined) return [];
    return [{ path: join(folderOf(shadow), name), boot, process }];
  });
}
