import Anser from 'anser';
import { memo } from 'react';
import { Text } from '../parts/text.tsx';
import type { OutputRow } from './output-lines.ts';

interface Props {
  row: OutputRow;
  /** Lower-case text to mark; empty: none. */
  query: string;
}

/** A row as elements, never as HTML. */
export const OutputRowView = memo(function OutputRowView({ row: { line, text, colours }, query }: Props) {
  const pieces = colours === '' && !text.includes('\u001b') ? [{ text, className: '' }] : piecesOf(colours + text);
  return (
    <>
      <span className="output-number" aria-hidden="true">
        {line ?? '·'}
      </span>
      <span className="output-text">
        {pieces.map((piece, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of a row stand in a fixed order
          <span key={index} className={piece.className}>
            <Marked text={piece.text} query={query} />
          </span>
        ))}
      </span>
    </>
  );
});

function Marked({ text, query }: { text: string; query: string }) {
  const at = query === '' ? -1 : text.toLowerCase().indexOf(query);
  if (at < 0) return <Text>{text}</Text>;
  const end = at + query.length;
  return (
    <>
      {at > 0 && <Text>{text.slice(0, at)}</Text>}
      <mark>
        <Text>{text.slice(at, end)}</Text>
      </mark>
      {end < text.length && <Marked text={text.slice(end)} query={query} />}
    </>
  );
}

interface Piece {
  text: string;
  className: string;
}

/** Background and `hidden` are left out, and so are exact colours: a program could write text in the colour of the page. */
function piecesOf(text: string): Piece[] {
  return Anser.ansiToJson(text, { json: true, use_classes: true, remove_empty: true }).map((piece) => ({
    text: piece.content,
    className: [nameOf(piece.fg ?? ''), ...piece.decorations.map((name) => shown[name] ?? '')]
      .filter(Boolean)
      .join(' '),
  }));
}

const shown: Partial<Record<string, string>> = {
  bold: 'ansi-bold',
  italic: 'ansi-italic',
  underline: 'ansi-underline',
};
const named = /^ansi-(?:bright-)?(black|red|green|yellow|blue|magenta|cyan|white)$/;

/** Sixteen names have a readable colour in both themes. Colours of the palette of 256 stand for the nearest name. */
function nameOf(colour: string): string {
  const [, name] = named.exec(colour) ?? [];
  if (name !== undefined) return `ansi-${name}`;
  const [, index] = /^ansi-palette-(\d+)$/.exec(colour) ?? [];
  return index === undefined ? '' : nearest(Number(index));
}

function nearest(index: number): string {
  if (index < 16 || index > 231) return '';
  const [red, green, blue] = [Math.floor((index - 16) / 36), Math.floor(((index - 16) % 36) / 6), (index - 16) % 6];
  const most = Math.max(red, green, blue);
  const bits = [red, green, blue].map((part) => (most > 0 && part * 2 > most ? 1 : 0)).join('');
  return hues[bits] ?? '';
}

const hues: Partial<Record<string, string>> = {
  100: 'ansi-red',
  '010': 'ansi-green',
  110: 'ansi-yellow',
  '001': 'ansi-blue',
  101: 'ansi-magenta',
  '011': 'ansi-cyan',
};
