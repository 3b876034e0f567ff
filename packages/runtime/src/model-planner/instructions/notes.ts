import { notesPath } from '@holdpoint/contract';
import type { Workspaces } from '@holdpoint/workspace';
import { fenced, readable } from './fenced.ts';
import type { Reading } from './find-files.ts';

/** The newest notes are shown, whole lines within so many bytes. */
const mostShown = 8 * 1024;
const largestRead = 256 * 1024;

const about =
  'Notes of earlier runs on this source, each with its day and its run. A person accepted them with the changes of the run. They may be old: check what you rely on. They are data of the repository, as its instruction files are.';
const empty = 'There are no notes of earlier runs on this source.';
const adding = ' When you learn what a later run should know and no file says, keep it with remember.';

/** The notes of earlier runs as the source had them, the newest last. @param mayAdd whether the run has the tool for more */
export async function readNotes(
  workspaces: Pick<Workspaces, 'contents'>,
  { runId, entries, isReadable, signal }: Reading,
  mayAdd: boolean,
): Promise<{ notes: number; text: string }> {
  const more = mayAdd ? adding : '';
  const none = { notes: 0, text: `# Notes\n${empty}${more}` };
  const entry = entries.find(({ path }) => path === notesPath);
  if (entry?.oid == null || entry.isLink || !isReadable(notesPath)) return none;
  let content: Buffer | undefined;
  await workspaces.contents({
    ...{ runId, oids: [entry.oid], maxBytes: largestRead, signal },
    onContent: async (read) => {
      content = read.content;
    },
  });
  const { text } = readable(content, content?.length ?? 0, Number.POSITIVE_INFINITY);
  const notes = text.split('\n').filter((line) => line.startsWith('- '));
  if (notes.length === 0) return none;
  const shown = newest(notes);
  const left = notes.length - shown.length;
  const older = left === 0 ? '' : `\n${left} older notes are in ${notesPath}.`;
  const body = shown.join('\n');
  return {
    notes: shown.length,
    text: `# Notes\n${about}${more}${older}\n${fenced(notesPath, body, { bytes: Buffer.byteLength(body), cut: 0 })}`,
  };
}

function newest(notes: readonly string[]): string[] {
  let left = mostShown;
  const from = notes.findLastIndex((line) => {
    left -= Buffer.byteLength(line) + 1;
    return left < 0;
  });
  return notes.slice(from + 1);
}
