import { closedBy, crosses, rawTextElements, voidElements } from './html-elements.ts';
import { readTag, type Tag } from './html-tag.ts';

export interface CutHtml {
  html: string;
  /** False when the document has too many elements and its rest is missing. */
  complete: boolean;
}

/** Deeper elements lose their tags and keep their text. Browsers stop at 512; pages written by people stay far below 128. */
const maxDepth = 128;
/** The longest pages of documentation have about 50,000. */
const maxElements = 100_000;

/**
 * Rewrites a document so that every later step may recurse and select freely: every element is closed, at most 128 deep; comments,
 * scripts, styles and drawings are removed; every `<` begins a tag. Entities are unchanged.
 *
 * One pass looks at each character a bounded number of times. HTML parsers are not linear in the worst case: standard ones rebuild all
 * open formatting elements in every paragraph, and simple ones search their stack for each unmatched end tag.
 */
export function cutHtml(source: string): CutHtml {
  const out: string[] = [];
  const document = openDocument(out);
  const endOf = rawTextEnds(source);
  let at = 0;
  while (at < source.length) {
    const bracket = source.indexOf('<', at);
    if (bracket === -1) {
      out.push(source.slice(at));
      break;
    }
    out.push(source.slice(at, bracket));
    const tag = readTag(source, bracket);
    at = tag.end;
    if (tag.kind === 'text') out.push('&lt;');
    if (tag.kind === 'close') document.close(tag.name);
    if (tag.kind !== 'open') continue;
    if (rawTextElements.has(tag.name) && !tag.closed) {
      const raw = endOf(tag.name, at);
      if (tag.name === 'title') out.push('<title>', source.slice(at, raw.start).replaceAll('<', '&lt;'), '</title>');
      at = raw.end;
    } else if (!document.open(tag)) {
      return { html: document.end(), complete: false };
    }
  }
  return { html: document.end(), complete: true };
}

function openDocument(out: string[]) {
  const open: string[] = [];
  // Open elements beyond the depth limit, by name: their end tags must not close other elements.
  const ignored = new Map<string, number>();
  let elements = 0;
  // Open elements by name. Without the count, each of a million unmatched end tags searches the whole stack.
  const openNames = new Map<string, number>();
  const count = (name: string, change: number) => openNames.set(name, (openNames.get(name) ?? 0) + change);
  const closeTo = (index: number) => {
    for (const name of open.splice(index).reverse()) {
      count(name, -1);
      out.push(`</${name}>`);
    }
  };
  return {
    /** False when there are too many elements. */
    open(tag: Extract<Tag, { kind: 'open' }>): boolean {
      elements += 1;
      if (elements > maxElements) return false;
      const implied = closedBy(tag.name, open);
      if (implied !== -1) closeTo(implied);
      if (voidElements.has(tag.name)) out.push(serialize(tag));
      else if (open.length < maxDepth) {
        out.push(serialize(tag));
        open.push(tag.name);
        count(tag.name, 1);
      } else {
        ignored.set(tag.name, (ignored.get(tag.name) ?? 0) + 1);
      }
      return true;
    },
    close(name: string): void {
      const past = ignored.get(name) ?? 0;
      if (past > 0) {
        ignored.set(name, past - 1);
        return;
      }
      if ((openNames.get(name) ?? 0) === 0) return;
      let index = open.length - 1;
      while (index >= 0 && open[index] !== name && crosses(name, open[index])) index -= 1;
      if (index >= 0 && open[index] === name) closeTo(index);
    },
    end(): string {
      closeTo(0);
      return out.join('');
    },
  };
}

function serialize({ name, attributes }: { name: string; attributes: readonly (readonly [string, string])[] }): string {
  return `<${name}${attributes.map(([key, value]) => ` ${key}="${value.replaceAll('"', '&quot;')}"`).join('')}>`;
}

/** Finds where the raw text of an element ends. Remembers names without an end tag: a page of nothing but `<title>` would take quadratic time. */
function rawTextEnds(source: string) {
  const endless = new Set<string>();
  return (name: string, from: number): { start: number; end: number } => {
    const pattern = new RegExp(`</${name}(?=[\\s/>])`, 'gi');
    pattern.lastIndex = from;
    const found = endless.has(name) ? null : pattern.exec(source);
    if (found) return { start: found.index, end: readTag(source, found.index).end };
    endless.add(name);
    // An unclosed script takes the rest of the page along, as in browsers. Other elements lose only their tag.
    return name === 'script' || name === 'style' ? { start: from, end: source.length } : { start: from, end: from };
  };
}
