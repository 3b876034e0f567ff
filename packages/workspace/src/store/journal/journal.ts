import { randomBytes } from 'node:crypto';
import { closeSync, fdatasync, fstatSync, mkdirSync, openSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { errnoOf, unlessMissing } from '../../errors.ts';
import { syncPath, writeAll } from '../../files/index.ts';
import type { Logger } from '../../port/logger.ts';
import { type RunFolder, runFolder } from '../../run-folder/run-folder.ts';
import { type Holder, isRunning } from '../../run-folder/tree-head.ts';
import { type PackedObject, writePack } from '../objects/index.ts';
import * as journalRecord from './record.ts';

/**
 * A file of the shadow repository for the snapshots of a single process: an fsync makes a snapshot durable, objects and name together. Its
 * objects and its ref are also written as separate files without fsync (`show.ts`), for git. After a power cut only the journal counts
 * (`journal.ts`).
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
async function appendToJournal(
  shadow: string,
  holder: Holder,
  record: journalRecord.JournalRecord,
): Promise<Journal | undefined> {
  const to = journalOf(shadow, holder);
  const bytes = journalRecord.encodeRecord(record);
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
function closeJournal(shadow: string): void {
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
function journalsIn(shadow: string): Journal[] {
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

/**
 * Brings the records of journals into their lasting form: a pack, and lines in the list of snapshots. Everything is on disk before anything is
 * removed, and the journals go last, so a crash or power cut at any point leaves every snapshot readable. Several processes may fold concurrently.
 * @param input.ended whether nothing will be appended to a journal; others are kept
 */
async function foldJournals(
  deps: Pick<JournalDeps, 'onPoint'>,
  input: { shadow: string; journals: readonly Journal[]; ended: (journal: Journal) => boolean },
): Promise<void> {
  const { shadow, journals, ended } = input;
  const records = journals.flatMap(({ path }) => journalRecord.readRecords(path));
  if (records.length > 0) {
    const listed = journalRecord.listedSnapshots(shadow);
    const fresh = records.filter(({ id }) => !listed.has(id));
    const objects = uniqueObjects(fresh);
    if (objects.length > 0) await writePack(shadow, objects);
    deps.onPoint('fold.packed');
    if (fresh.length > 0) await journalRecord.listSnapshots(shadow, [...new Set(fresh.map(({ id }) => id))]);
    deps.onPoint('fold.listed');
    await journalRecord.hideSnapshots(shadow, new Set(records.map(({ id }) => id)));
    deps.onPoint('fold.hidden');
  }
  for (const journal of journals.filter(ended)) rmSync(journal.path, { force: true });
}

function uniqueObjects(records: readonly { objects: readonly PackedObject[] }[]): PackedObject[] {
  const objects = new Map(records.flatMap((record) => record.objects.map((object) => [object.oid, object] as const)));
  return [...objects.values()];
}

/** The objects of all journals: they are on disk in these alone. */
export const journaledObjects = (shadow: string): PackedObject[] =>
  uniqueObjects(journalsIn(shadow).flatMap(({ path }) => journalRecord.readRecords(path)));

/** Folds all journals of an ended run. A journal of a process with a possible life is kept. */
export async function foldAll(deps: Pick<JournalDeps, 'onPoint' | 'holder'>, shadow: string): Promise<void> {
  closeJournal(shadow);
  const { holder } = deps;
  const ended = ({ boot, process }: Journal): boolean =>
    boot !== holder.boot || process === holder.process || isRunning(process) === false;
  const journals = journalsIn(shadow);
  if (journals.length > 0) await foldJournals(deps, { shadow, journals, ended });
}

/** Makes a snapshot durable, and visible to git and other processes. */
export async function commitSnapshot(
  deps: Pick<JournalDeps, 'holder' | 'onPoint' | 'logger'>,
  { shadow, runId }: RunFolder,
  record: journalRecord.JournalRecord,
): Promise<void> {
  const due = await appendToJournal(shadow, deps.holder, record);
  deps.onPoint('snapshot.journal');
  journalRecord.showObjects(shadow, record);
  deps.onPoint('snapshot.objects');
  journalRecord.showRef(shadow, record);
  deps.onPoint('snapshot.ref');
  if (due === undefined) return;
  // Concurrent with the next steps: nothing waits for the fold, and the journal is kept until its end.
  foldJournals(deps, { shadow, journals: [due], ended: () => true }).catch((error: unknown) => {
    // The run was discarded.
    if (errnoOf(error) === 'ENOENT') return;
    deps.logger.warn(
      { run_id: runId, err: error },
      'the snapshots of a run could not be packed, and stay in their journal',
    );
  });
}

/** Brings the snapshots of a run into order before their first use in a process. */
type RecoverSnapshots = (runId: string) => Promise<void>;

const mostRemembered = 10_000;

/**
 * A power cut may have torn git's files of journaled snapshots. So journals of an earlier boot are folded before git runs on the
 * repository; until the fold every snapshot named by an event is whole in a journal. No new journal of an earlier boot can appear while the
 * process runs.
 */
export function createRecovery(deps: Pick<JournalDeps, 'dataDir' | 'holder' | 'logger'>): RecoverSnapshots {
  const recovered = new Map<string, Promise<void>>();
  return (runId) => {
    const known = recovered.get(runId);
    if (known !== undefined) return known;
    const done = recover(deps, runId);
    recovered.set(runId, done);
    for (const oldest of recovered.keys()) if (recovered.size > mostRemembered) recovered.delete(oldest);
    done.catch(() => recovered.delete(runId));
    return done;
  };
}

async function recover({ dataDir, holder, logger }: Parameters<typeof createRecovery>[0], runId: string) {
  const { shadow } = runFolder(dataDir, runId, 1);
  const journals = journalsIn(shadow).filter(({ boot }) => boot !== holder.boot);
  if (journals.length === 0) return;
  // Several processes may recover at once.
  await foldJournals({ onPoint: () => {} }, { shadow, journals, ended: () => true });
  logger.info({ run_id: runId, journals: journals.length }, 'the snapshots of an earlier boot were recovered');
}
