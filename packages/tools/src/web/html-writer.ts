/** Writes HTML of a bounded size in which every element is closed. */
export interface HtmlWriter {
  /** Text of the document: white space collapses. */
  text(text: string): void;
  /** Text as it is. @param margin characters that Markdown will put before each line; they count as written */
  verbatim(text: string, margin: number): void;
  /** An element without content. */
  leaf(name: string, attributes?: Attributes): void;
  element(name: string, attributes: Attributes, body: () => void): void;
  /** Counts characters that Markdown will put before what is written next, if anything is. */
  margin(chars: number): void;
  /** Whether nothing more is taken. */
  full(): boolean;
  /** `chars`: how many characters of text there are, white space apart from single blanks not counted. */
  end(): { html: string; chars: number; complete: boolean };
}

type Attributes = Record<string, string>;

/** @param limit characters after which nothing but end tags is written */
export function createHtmlWriter(limit: number): HtmlWriter {
  const out: string[] = [];
  let length = 0;
  let pending = 0;
  let chars = 0;
  let complete = true;
  const push = (piece: string) => {
    out.push(piece);
    length += piece.length;
  };
  const settle = () => {
    length += pending;
    pending = 0;
  };
  const say = (text: string) => {
    const fitting = text.slice(0, Math.max(limit - length, 0));
    if (fitting.length < text.length) complete = false;
    if (fitting.trim() !== '') settle();
    chars += fitting.trim().length;
    push(escaped(fitting));
  };
  const open = (name: string, attributes: Attributes) => {
    push(
      `<${name}${Object.entries(attributes)
        .map(([key, value]) => ` ${key}="${escaped(value)}"`)
        .join('')}>`,
    );
  };
  const full = () => {
    if (length >= limit) complete = false;
    return !complete;
  };
  return {
    text: (text) => say(text.replaceAll(INVISIBLE, '').replaceAll(SPACE, ' ')),
    verbatim(text, margin) {
      const fitting = fittingLines(text.replaceAll('\0', ''), limit - length, margin);
      if (fitting.cut) complete = false;
      length += fitting.margins;
      say(fitting.text);
    },
    margin(count) {
      pending = Math.max(pending, count);
    },
    leaf(name, attributes = {}) {
      if (full()) return;
      settle();
      open(name, attributes);
    },
    element(name, attributes, body) {
      if (full()) return;
      open(name, attributes);
      body();
      push(`</${name}>`);
    },
    full,
    end: () => ({ html: out.join(''), chars, complete }),
  };
}

function fittingLines(text: string, room: number, margin: number): { text: string; margins: number; cut: boolean } {
  let margins = margin;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) {
    if (at + margins > room) return { text: text.slice(0, at), margins, cut: true };
    margins += margin;
  }
  return { text, margins, cut: false };
}

const SPACE = /[\s\u00a0]+/g;
/** Soft hyphens and marks of no width break words that a reader would search for; NUL is no text at all. */
const INVISIBLE = /\0|\u00ad|\u200b|\ufeff/g;

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
