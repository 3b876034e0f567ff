import type { HtmlElement, HtmlNode } from './html-tree.ts';
import type { HtmlWriter } from './html-writer.ts';

/** What an element stands in. */
export interface Within {
  bold: boolean;
  italic: boolean;
  struck: boolean;
  raised: boolean;
  link: boolean;
  /** A heading: one line. */
  line: boolean;
  cell: boolean;
  /** Lists and quotations around. */
  indents: number;
}

/** An element that is being written, and what its rule may do. */
export interface Place {
  writer: HtmlWriter;
  element: HtmlElement;
  within: Within;
  /** What relative addresses are relative to. */
  base: string;
  /** Whether a reader sees an element. */
  shown(element: HtmlElement): boolean;
  /** Writes the content of the element. */
  children(within: Within): void;
  write(node: HtmlNode, within: Within): void;
  /** Has a link written around a node that comes later within the element. */
  linkLater(href: string, at: HtmlNode): void;
  /** Lists an address. */
  onLink(href: string): void;
}

const BLOCKS = new Set(
  (
    'address article aside blockquote body caption center dd details dialog dir div dl dt fieldset figcaption figure footer form ' +
    'h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav noscript ol p pre search section summary table tbody td tfoot ' +
    'th thead tr ul'
  ).split(' '),
);

export function isBlock({ name }: HtmlElement): boolean {
  return BLOCKS.has(name);
}

export function hasBlock(element: HtmlElement): boolean {
  return element.children.some((child) => child.type === 'tag' && (isBlock(child) || hasBlock(child)));
}

/** A block, or where there is only one line its content between blanks. */
export function block({ writer, children }: Place, name: string, within: Within): void {
  if (!within.line) {
    writer.margin(2 * margin(within));
    writer.element(name, {}, () => children(within));
    return;
  }
  writer.text(' ');
  children(within);
  writer.text(' ');
}

/** Characters before each line. */
export function margin({ indents }: Within): number {
  return 4 * indents;
}

/** Characters that tell whether there is anything to read. */
export const FEW = 100;
