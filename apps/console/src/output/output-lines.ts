/** Longest row, in UTF-16 units: a line of ten megabytes is many rows. */
const longestRow = 400;

/** One row on the screen. */
export interface OutputRow {
  /** Number of its line, from 1; undefined: the line continues from the row above. */
  line: number | undefined;
  /** Raw text, with colour sequences and no other escapes. */
  text: string;
  /** The colour sequences in force where the row begins. */
  colours: string;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: terminals read these
const colour = /\u001b\[([0-9;:]*)m/g;
/**
 * Escapes other than colours: OSC (links, titles) and other strings up to their terminator, cursor movements, and two-character escapes. A string
 * without a terminator in its line stays, with a visible escape: it could hide the rest of the output.
 */
const others =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: terminals read these
  /\u001b[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\)|\u001b\[[0-?]*[ -/]*[@-ln-~]|\u001b[ -/]*[0-OQ-WYZ`-~]/g;

/** Turns output into rows, piece by piece. The last line may be incomplete: the next piece continues it. */
export class OutputLines {
  readonly rows: OutputRow[] = [];
  #lines = 0;
  #rest = '';
  #rowsOfRest = 0;
  #colours = '';
  #coloursBeforeRest = '';

  add(piece: string): void {
    this.rows.length -= this.#rowsOfRest;
    this.#colours = this.#coloursBeforeRest;
    // A carriage return ends a line as well: what a progress bar wrote before stays readable.
    const lines = (this.#rest + piece).split(/\r?\n|\r(?!\n|$)/);
    this.#rest = lines.pop() ?? '';
    for (const line of lines) this.#addLine(line);
    this.#coloursBeforeRest = this.#colours;
    const before = this.rows.length;
    const number = this.#lines;
    if (this.#rest !== '') this.#addLine(this.#rest);
    this.#lines = number;
    this.#rowsOfRest = this.rows.length - before;
  }

  #addLine(line: string): void {
    this.#lines += 1;
    const text = line.includes('\u001b') ? line.replace(others, '') : line;
    let start = 0;
    do {
      const end = endOfRow(text, start);
      const row = text.slice(start, end);
      this.rows.push({ line: start === 0 ? this.#lines : undefined, text: row, colours: this.#colours });
      if (row.includes('\u001b')) this.#colours = coloursAfter(this.#colours, row);
      start = end;
    } while (start < text.length);
  }
}

/** A row ends neither inside a colour sequence nor inside a character. */
function endOfRow(text: string, start: number): number {
  let end = start + longestRow;
  if (end >= text.length) return text.length;
  const begin = text.lastIndexOf('\u001b', end - 1);
  if (begin > start && begin > end - 24 && !text.slice(begin, end).includes('m')) end = begin;
  return /[\uD800-\uDBFF]/.test(text[end - 1] ?? '') ? end - 1 : end;
}

function coloursAfter(before: string, row: string): string {
  let colours = before;
  for (const [sequence, codes = ''] of row.matchAll(colour)) {
    const isReset = /^0*$/.test(codes);
    // A program that never resets would make this text grow without end.
    colours = isReset ? '' : (colours + sequence).slice(-200);
  }
  return colours.startsWith('\u001b') ? colours : colours.slice(Math.max(0, colours.indexOf('\u001b')));
}

/** The text of a row without colours, for search and copying. */
export const withoutColours = (text: string): string => (text.includes('\u001b') ? text.replace(colour, '') : text);
