import { rmSync } from 'node:fs';
import { isRunning } from '../../run-folder/tree-head.ts';
import { type PackedObject, writePack } from '../objects/index.ts';
import { closeJournal, type Journal, type JournalDeps, journalsIn } from './journal.ts';
import { readRecords } from './record.ts';
import { hideSnapshots } from './show.ts';
import { listedSnapshots, listSnapshots } from './snapshot-list.ts';

/**
 * Brings the records of journals into their lasting form: a pack, and lines in the list of snapshots. Everything is on disk before anything is
 * removed, and the journals go last, so a crash or power cut at any point leaves every snapshot readable. Several processes may fold concurrently.
 * @param input.ended whether nothing will be appended to a journal; others are kept
 */
export async function foldJournals(
  deps: Pick<JournalDeps, 'onPoint'>,
  input: { shadow: string; journals: readonly Journal[]; ended: (journal: Journal) => boolean },
): Promise<void> {
  const { shadow, journals, ended } = input;
  const records = journals.flatMap(({ path }) => readRecords(path));
  if (records.length > 0) {
    const listed = listedSnapshots(shadow);
    const fresh = records.filter(({ id }) => !listed.has(id));
    const objects = uniqueObjects(fresh);
    if (objects.length > 0) await writePack(shadow, objects);
    deps.onPoint('fold.packed');
    if (fresh.length > 0) await listSnapshots(shadow, [...new Set(fresh.map(({ id }) => id))]);
    deps.onPoint('fold.listed');
    await hideSnapshots(shadow, new Set(records.map(({ id }) => id)));
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
  uniqueObjects(journalsIn(shadow).flatMap(({ path }) => readRecords(path)));

/** Folds all journals of an ended run. A journal of a process with a possible life is kept. */
export async function foldAll(deps: Pick<JournalDeps, 'onPoint' | 'holder'>, shadow: string): Promise<void> {
  closeJournal(shadow);
  const { holder } = deps;
  const ended = ({ boot, process }: Journal): boolean =>
    boot !== holder.boot || process === holder.process || isRunning(process) === false;
  const journals = journalsIn(shadow);
  if (journals.length > 0) await foldJournals(deps, { shadow, journals, ended });
}
