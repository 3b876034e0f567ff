import { memo } from 'react';
import { Button, Icon } from '../parts/button.tsx';
import { Text } from '../parts/text.tsx';
import { modeChange } from './diff-items.ts';
import type { ChangedFile, DiffLine, DiffRow } from './diff-lines.ts';
import type { Coloured, Token } from './highlight.ts';

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
