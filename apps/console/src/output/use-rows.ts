import { useEffect, useRef, useState } from 'react';
import { OutputLines, type OutputRow } from './output-lines.ts';

/** Characters read in one go: about 10 ms. */
const pieceSize = 512 * 1024;

/** The rows of a text. A long text is read in pieces, with pauses for the page between them. */
export function useRows(text: string): readonly OutputRow[] {
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
