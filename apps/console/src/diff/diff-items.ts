import type { Placed } from './comments/use-places.ts';
import type { ChangedFile, DiffRow, FileDiff } from './diff-lines.ts';
import { rowsOf, sizeOf } from './diff-lines.ts';

/** Rows of a diff, from top to bottom: heads of files, their lines, and a note where the lines are absent. Rows outside of the screen have no elements. */
export type DiffItem =
  | { kind: 'file'; key: string; file: ChangedFile }
  | { kind: 'row'; key: string; path: string; row: DiffRow }
  /** The lines of the file are read when this comes on the screen. */
  | { kind: 'wanted'; key: string; path: string }
  | { kind: 'large'; key: string; path: string; why: string }
  | { kind: 'draft'; key: string; path: string; placed: Placed }
  | { kind: 'words'; key: string; path: string; text: string; next?: string | undefined };

/** Above these, a person opens a file on purpose. */
const mostLines = 3000;
const mostText = 500_000;

interface Options {
  layout: 'unified' | 'split';
  closed: ReadonlySet<string>;
  opened: ReadonlySet<string>;
  read: (path: string) => { data?: FileDiff | null | undefined; error: unknown } | undefined;
}

export const itemsOf = (files: readonly ChangedFile[], options: Options): DiffItem[] =>
  files.flatMap((file) => {
    const head: DiffItem = { kind: 'file', key: `file ${file.path}`, file };
    return options.closed.has(file.path) ? [head] : [head, ...bodyOf(file, options)];
  });

function bodyOf(file: ChangedFile, { layout, opened, read }: Options): DiffItem[] {
  const { path } = file;
  const without = wordsFor(file);
  if (without !== undefined) return [without];
  const lines = file.additions + file.deletions;
  const isOpened = opened.has(path);
  if (lines > mostLines && !isOpened) return [large(path, `${lines.toLocaleString('en')} changed lines`)];
  const { data, error } = read(path) ?? { error: null };
  if (error) return [words(path, error instanceof Error ? error.message : String(error), 'Load the page again.')];
  if (data === undefined) return [{ kind: 'wanted', key: `wanted ${path}`, path }];
  if (data === null) return [words(path, 'This file is no longer part of the change.')];
  if (!isOpened && sizeOf(data) > mostText) return [large(path, `${Math.round(sizeOf(data) / 1000)} KB of changes`)];
  if (data.hunks.length === 0)
    return [words(path, data.omitted ? 'Its lines are too many to be shown.' : 'No line differs.')];
  const rows = rowsOf(data, layout).map(
    (row, at): DiffItem => ({ kind: 'row', key: `${layout} ${at} ${path}`, path, row }),
  );
  const cut = (data as { cut?: number }).cut ?? 0;
  return cut === 0
    ? rows
    : [
        ...rows,
        words(path, `${cut.toLocaleString('en')} more lines are not shown.`, 'Read the patch for all of them.'),
      ];
}

const large = (path: string, why: string): DiffItem => ({ kind: 'large', key: `large ${path}`, path, why });
const words = (path: string, text: string, next?: string): DiffItem => ({
  kind: 'words',
  key: `words ${path} ${text}`,
  path,
  text,
  next,
});

/** Files without lines say why. */
function wordsFor(file: ChangedFile): DiffItem | undefined {
  const { path, unreadable, too_large, binary, old_mode, new_mode, additions, deletions } = file;
  if (unreadable) return words(path, unreadable.message, unreadable.next);
  if (too_large)
    return words(path, 'The file is too large to be shown.', 'Download the patch, or the files of the snapshot.');
  if (binary) return words(path, 'A binary file: its content is not text.');
  if (new_mode === '160000' || old_mode === '160000') return words(path, 'A submodule.');
  if (additions + deletions === 0)
    return words(path, file.moved_from === undefined ? 'No line differs.' : 'Moved without another change.');
  return undefined;
}

/** A change of the mode in words. undefined: the mode is the same. */
export function modeChange({ old_mode, new_mode }: ChangedFile): string | undefined {
  if (old_mode === null || new_mode === null || old_mode === new_mode)
    return new_mode === '120000' ? 'link' : undefined;
  if (old_mode === '100644' && new_mode === '100755') return 'made executable';
  if (old_mode === '100755' && new_mode === '100644') return 'no longer executable';
  return `mode ${old_mode} → ${new_mode}`;
}
