import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef, useState } from 'react';
import { Button } from '../parts/button.tsx';
import { Note } from '../parts/note.tsx';
import { OutputLines, type OutputRow, withoutColours } from './output-lines.ts';
import { OutputRowView } from './output-row.tsx';

/** Characters read in one go: about 10 ms. */
const pieceSize = 512 * 1024;

/** The rows of a text. A long text is read in pieces, with pauses for the page between them. */
function useRows(text: string): readonly OutputRow[] {
  const read = useRef({ lines: new OutputLines(), text: '' });
  const [, repaint] = useState(0);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    if (!text.startsWith(read.current.text)) read.current = { lines: new OutputLines(), text: '' };
    const readPiece = () => {
      const { lines, text: known } = read.current;
      if (known.length >= text.length) return;
      const piece = text.slice(known.length, known.length + pieceSize);
      lines.add(piece);
      read.current.text = text.slice(0, known.length + piece.length);
      repaint((count) => count + 1);
      timer = setTimeout(readPiece);
    };
    readPiece();
    return () => clearTimeout(timer);
  }, [text]);
  return read.current.lines.rows;
}

/** A search stops here: no person steps through ten thousand rows. */
const mostMatches = 10_000;
const rowsAtOnce = 20_000;

/** Finds the rows with the query. A long output is searched in parts, with pauses for the page between the parts. */
function useMatches(rows: readonly OutputRow[], query: string) {
  const [found, setFound] = useState<number[]>([]);
  const [at, setAt] = useState(-1);
  const needle = query.toLowerCase();
  const count = rows.length;
  // biome-ignore lint/correctness/useExhaustiveDependencies: rows is the same array while it grows
  useEffect(() => {
    setAt(-1);
    setFound([]);
    if (needle === '') return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const matches: number[] = [];
    const look = (from: number) => {
      const end = Math.min(rows.length, from + rowsAtOnce);
      for (let row = from; row < end && matches.length < mostMatches; row++) {
        if (
          withoutColours(rows[row]?.text ?? '')
            .toLowerCase()
            .includes(needle)
        )
          matches.push(row);
      }
      setFound([...matches]);
      if (end < rows.length && matches.length < mostMatches) timer = setTimeout(() => look(end));
    };
    look(0);
    return () => clearTimeout(timer);
  }, [needle, count]);
  const step = (by: number): number | undefined => {
    if (found.length === 0) return undefined;
    const next = (at + by + found.length) % found.length;
    setAt(next);
    return found[next];
  };
  const total = `${found.length.toLocaleString('en')}${found.length === mostMatches ? ' or more' : ''}`;
  return {
    current: at < 0 ? undefined : found[at],
    label: at < 0 ? `${total} found` : `${at + 1} of ${total}`,
    next: () => step(1),
    previous: () => step(at < 0 ? 0 : -1),
  };
}

interface Props {
  /** For readers of the page, and the name of a download. */
  name: string;
  /** The whole text so far. While it grows, only its new end is read. */
  text: string;
  isGrowing?: boolean;
  /** Why the beginning or the middle is absent. */
  note?: string | undefined;
}

const rowHeight = 20;

/** Output of a command: colours, search, copy and download. Rows outside of the screen have no elements. */
export function OutputView({ name, text, isGrowing = false, note }: Props) {
  const rows = useRows(text);
  const box = useRef<HTMLElement>(null);
  const [query, setQuery] = useState('');
  const [follows, setFollows] = useState(isGrowing);
  const matches = useMatches(rows, query);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => rowHeight,
    overscan: 10,
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the virtualizer is the same object at each paint
  useEffect(() => {
    if (follows && rows.length > 0) virtual.scrollToIndex(rows.length - 1, { align: 'end' });
  }, [follows, rows.length]);
  const show = (row: number | undefined) => {
    if (row === undefined) return;
    setFollows(false);
    virtual.scrollToIndex(row, { align: 'center' });
  };
  if (text === '') return <p className="muted small output-empty">{isGrowing ? 'No output yet.' : 'No output.'}</p>;
  return (
    <figure className="output">
      <div className="output-bar">
        <input
          type="search"
          aria-label={`Search in ${name}`}
          placeholder="Search"
          value={query}
          onChange={(event) => setQuery(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter') show(event.shiftKey ? matches.previous() : matches.next());
          }}
        />
        <span className="muted small numbers" role="status">
          {query === '' ? `${rows.length.toLocaleString('en')} rows` : matches.label}
        </span>
        <span className="output-actions">
          {isGrowing && (
            <Button kind="quiet" slim aria-pressed={follows} onClick={() => setFollows(!follows)}>
              {follows ? 'Following' : 'Follow'}
            </Button>
          )}
          <Copy text={text} />
          <Button kind="quiet" slim onClick={() => download(name, text)}>
            Download
          </Button>
        </span>
      </div>
      {note !== undefined && <Note>{note}</Note>}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a part that scrolls must be in the reach of the keyboard */}
      <section className="output-box" ref={box} tabIndex={0} aria-label={name} onWheel={stopFollowing}>
        <div className="output-rows" style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map(({ index, start }) => {
            const row = rows[index];
            const isMatch = matches.current === index;
            return row === undefined ? null : (
              <div
                key={index}
                className={`output-row${isMatch ? ' match' : ''}`}
                style={{ transform: `translateY(${start}px)` }}
              >
                <OutputRowView row={row} query={query.toLowerCase()} />
              </div>
            );
          })}
        </div>
      </section>
    </figure>
  );

  function stopFollowing({ deltaY }: { deltaY: number }): void {
    if (deltaY < 0) setFollows(false);
  }
}

function Copy({ text }: { text: string }) {
  const [result, setResult] = useState<'Copied' | 'Not allowed here'>();
  const copy = () =>
    // Only pages from this device or over https may write to the clipboard.
    (navigator.clipboard?.writeText(text) ?? Promise.reject(new Error('no clipboard'))).then(
      () => setResult('Copied'),
      () => setResult('Not allowed here'),
    );
  return (
    <Button kind="quiet" slim icon="copy" onClick={() => void copy()}>
      <span aria-live="polite">{result ?? 'Copy'}</span>
    </Button>
  );
}

function download(name: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: 'text/plain' }));
  const link = document.createElement('a');
  link.href = address;
  link.download = `${name.replace(/[^\w.-]+/g, '-')}.txt`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
