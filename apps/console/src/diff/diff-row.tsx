import { memo } from 'react';
import { Button, Icon } from '../parts/button.tsx';
import { Text } from '../parts/problem-note.tsx';
import type { Placed } from './comments/use-places.ts';
import { type ChangedFile, type DiffLine, type DiffRow, type FileDiff, rowsOf, sizeOf } from './diff-lines.ts';
import type { Coloured, Token } from './highlight.ts';

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
function modeChange({ old_mode, new_mode }: ChangedFile): string | undefined {
  if (old_mode === null || new_mode === null || old_mode === new_mode)
    return new_mode === '120000' ? 'link' : undefined;
  if (old_mode === '100644' && new_mode === '100755') return 'made executable';
  if (old_mode === '100755' && new_mode === '100644') return 'no longer executable';
  return `mode ${old_mode} → ${new_mode}`;
}

/** The text of a line with its colours, and the changed part marked. */
const DiffText = memo(function DiffText({ line, tokens }: { line: DiffLine; tokens: Token[] | undefined }) {
  const plain = [{ text: line.text, className: '' }];
  // Colours belong to a version of the file: text that has moved on keeps none.
  const fits = tokens !== undefined && tokens.map(({ text }) => text).join('') === line.text;
  return (
    <>
      {cutAt(fits ? tokens : plain, line.changed).map(({ text, className, isChanged }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of a line stand in a fixed order
        <span key={index} className={`${className}${isChanged ? ' changed' : ''}`}>
          <Text>{text}</Text>
        </span>
      ))}
    </>
  );
});

function cutAt(tokens: readonly Token[], changed: DiffLine['changed']): (Token & { isChanged: boolean })[] {
  if (changed === undefined) return tokens.map((token) => ({ ...token, isChanged: false }));
  const [from, to] = changed;
  let start = 0;
  return tokens.flatMap(({ text, className }) => {
    const begin = start;
    start += text.length;
    const cuts = [0, from - begin, to - begin, text.length].map((at) => Math.min(Math.max(at, 0), text.length));
    return [0, 1, 2].flatMap((part) => {
      const piece = text.slice(cuts[part], cuts[part + 1]);
      return piece === '' ? [] : [{ text: piece, className, isChanged: part === 1 }];
    });
  });
}

interface HeadProps {
  file: ChangedFile;
  isOpen: boolean;
  isViewed: boolean;
  onToggle: () => void;
  onViewed: () => void;
  onComment: () => void;
}

export function FileHead({ file, isOpen, isViewed, onToggle, onViewed, onComment }: HeadProps) {
  const mode = modeChange(file);
  return (
    <div className="file-head">
      <button type="button" className="file-toggle" aria-expanded={isOpen} onClick={onToggle}>
        <Icon name="right" />
        <span className="mono file-name">
          {file.moved_from !== undefined && (
            <span className="muted">
              <Text>{file.moved_from}</Text> →{' '}
            </span>
          )}
          <Text>{file.path}</Text>
        </span>
      </button>
      <span className="file-facts small">
        <span className="muted">{file.moved_from === undefined ? file.status : 'moved'}</span>
        {mode !== undefined && <span className="muted">{mode}</span>}
        {file.additions > 0 && <span className="count-added numbers">+{file.additions}</span>}
        {file.deletions > 0 && <span className="count-removed numbers">−{file.deletions}</span>}
        <Button slim kind="quiet" onClick={onComment}>
          Comment
          <span className="hidden-text">
            {' '}
            on a line of <Text>{file.path}</Text>
          </span>
        </Button>
        <label className="check">
          <input type="checkbox" checked={isViewed} onChange={onViewed} />
          Viewed
          <span className="hidden-text">
            {' '}
            <Text>{file.path}</Text>
          </span>
        </label>
      </span>
    </div>
  );
}

interface RowProps {
  row: DiffRow;
  layout: 'unified' | 'split';
  coloured: Coloured | undefined;
}

export const DiffRowView = memo(function DiffRowView({ row, coloured }: RowProps) {
  switch (row.kind) {
    case 'hunk':
      return <div className="hunk mono">{row.text}</div>;
    case 'line':
      return row.line.kind === 'note' ? (
        <div className="hunk">{row.line.text}</div>
      ) : (
        <div className={`code-line ${row.line.kind}`}>
          <LineNumber of={row.line.old} side="old" />
          <LineNumber of={row.line.new} side="new" />
          <Content line={row.line} coloured={coloured} />
        </div>
      );
    case 'pair':
      return (
        <div className="pair">
          <Side line={row.left} side="old" coloured={coloured} />
          <Side line={row.right} side="new" coloured={coloured} />
        </div>
      );
  }
});

interface SideProps {
  line: DiffLine | undefined;
  side: 'old' | 'new';
  coloured: Coloured | undefined;
}

function Side({ line, side, coloured }: SideProps) {
  if (line === undefined) return <div className="code-line absent" />;
  return (
    <div className={`code-line ${line.kind}`}>
      <LineNumber of={line[side]} side={side} />
      <Content line={line} coloured={coloured} />
    </div>
  );
}

/** A click begins a comment; the button of the file does the same for keyboards. */
const LineNumber = ({ of, side }: { of: number | undefined; side: 'old' | 'new' }) => (
  <span className="line-number" aria-hidden="true" data-side={of === undefined ? undefined : side}>
    {of}
  </span>
);

const signs: Record<DiffLine['kind'], string> = { same: ' ', added: '+', removed: '-', note: '' };

const Content = ({ line, coloured }: { line: DiffLine; coloured: Coloured | undefined }) => (
  <>
    <span className="line-sign">{signs[line.kind]}</span>
    <span className="line-text">
      <DiffText line={line} tokens={tokensOf(line, coloured)} />
    </span>
  </>
);

function tokensOf(line: DiffLine, coloured: Coloured | undefined): Token[] | undefined {
  if (line.new !== undefined) return coloured?.new.get(line.new);
  return line.old === undefined ? undefined : coloured?.old.get(line.old);
}
