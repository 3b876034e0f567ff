import type { SyntaxNode } from 'unbash';
import { checkContinuation, isQuoted, leafText, type Quoting, type Region, refuse } from './read-gap.ts';

type Leaf = { type: string; pos: number; end: number; value?: string | number };

/** Compares a leaf of the tree with bash's reading at its place. */
export function checkLeaf(region: Region, leaf: Leaf, quoting: Quoting): void {
  const { type, pos, end } = leaf;
  const text = leafText(region, pos, end);
  if (text === undefined) refuse('a word runs into a here-document', pos);
  switch (type) {
    case 'Literal':
      checkLiteral(region, pos, end, quoting);
      if ((withoutBackslashes(text, quoting) ?? leaf.value) !== leaf.value)
        refuse('a backslash was read in another way', pos);
      return;
    case 'SingleQuoted':
      if (!/^'[^']*'$/.test(text)) refuse('a quote ends elsewhere', pos);
      if (isQuoted(quoting)) refuse('a quote is inside of a quote', pos);
      return;
    case 'AnsiCQuoted':
      if (!/^\$'(?:[^'\\]|\\[\s\S])*'$/.test(text)) refuse('a quote ends elsewhere', pos);
      if (isQuoted(quoting)) refuse('a quote is inside of a quote', pos);
      // Inside of `"$( )"` bash puts the value of `${x-$'…'}` and of `=~ ($'…')` into the text without quotes.
      if (quoting !== 'word' && /[$`"'\\<>(){};&|]/.test(String(leaf.value)))
        refuse('a quote is inside of an expansion or a pattern', pos);
      return;
    case 'SimpleExpansion':
      checkVariable(region, pos, end);
      return;
    default:
      if (!plainLeaves[type]?.test(text)) refuse('a sign was read in another way', pos);
  }
}

/** The form of the other leaves. */
const plainLeaves: Readonly<Record<string, RegExp>> = {
  FileDescriptor: /^\d+$/,
  FileDescriptorVariable: /^\{[A-Za-z_]\w*\}$/,
  Negation: /^!$/,
  Names: /^[@*]$/,
  Time: /^time(?:[ \t]+-p)?(?:[ \t]+--)?$/,
  // An expansion unknown to the parser is a hazard.
  Unknown: /^[\s\S]*$/,
} satisfies Partial<Record<SyntaxNode['type'], RegExp>>;

/** Signs apart from letters, by their place. A dollar and a backslash are looked at everywhere. */
const signs: Readonly<Record<Quoting, RegExp>> = {
  word: /[ \t\n|&;()<>'"`]/y,
  regex: /[ \t\n&;<>'"`]/y,
  operand: /['"`}]|[<>](?=\()/y,
  quotedOperand: /["`}]|[<>](?=\()/y,
  doubleQuotes: /["`]/y,
  hereDocument: /`/y,
};

/** A literal text has no sign with a meaning but behind a backslash. */
export function checkLiteral(region: Region, pos: number, end: number, quoting: Quoting): void {
  const { source } = region;
  const sign = signs[quoting];
  for (let at = pos; at < end; at += 1) {
    sign.lastIndex = at;
    if (source[at] === '\\') {
      checkBackslash(region, at, end, quoting);
      at += 1;
    } else if (sign.test(source) || (source[at] === '$' && startsExpansion(source, at, quoting))) {
      refuse('a sign was read as a letter', at);
    }
  }
}

function checkBackslash({ source }: Region, at: number, end: number, quoting: Quoting): void {
  if (at + 1 >= end && at + 1 < source.length) refuse('a backslash ends a text', at);
  if (source[at + 1] !== '\n') return;
  checkContinuation(source, at, isQuoted(quoting));
}

function startsExpansion(source: string, at: number, quoting: Quoting): boolean {
  const after = source[at + 1] ?? ' ';
  if (/[A-Za-z0-9_@*#?$!({[-]/.test(after)) return true;
  return !isQuoted(quoting) && (after === "'" || after === '"');
}

/** A name takes as many characters as possible. */
function checkVariable({ source }: Region, pos: number, end: number): void {
  const text = source.slice(pos, end);
  const isName = /^\$[A-Za-z_]\w*$/.test(text) && !/\w/.test(source[end] ?? ' ');
  if (!isName && !/^\$[0-9@*#?$!-]$/.test(text)) refuse('a variable has another name', pos);
}

/** Backslashes removed, where the value of the word counts. */
function withoutBackslashes(text: string, quoting: Quoting): string | undefined {
  if (quoting === 'word') return text.replace(/\\([\s\S])/g, (_, letter: string) => (letter === '\n' ? '' : letter));
  if (quoting !== 'doubleQuotes') return undefined;
  return text.replace(/\\([$`"\\\n])/g, (_, letter: string) => (letter === '\n' ? '' : letter));
}
