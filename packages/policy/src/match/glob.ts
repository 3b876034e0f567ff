import type { Truth } from './truth.ts';

/** A glob without a meaning. The message continues "the glob …". */
export class GlobError extends Error {
  override name = 'GlobError';
}

const maxAlternatives = 64;

/** `a{b,c{d,e}}` becomes `ab`, `acd`, `ace`. @throws GlobError for more than 64 alternatives, or a brace without its partner */
function expandBraces(source: string): string[] {
  const open = findBrace(source);
  if (open === undefined) return [source];
  const { at, end, commas } = open;
  const cuts = [at, ...commas, end];
  const alternatives = cuts.slice(1).map((cut, index) => source.slice((cuts[index] ?? 0) + 1, cut));
  const expanded: string[] = [];
  for (const alternative of alternatives) {
    expanded.push(...expandBraces(source.slice(0, at) + alternative + source.slice(end + 1)));
    if (expanded.length > maxAlternatives)
      throw new GlobError(`has more than ${maxAlternatives} alternatives in braces`);
  }
  return expanded;
}

/** The first brace outside of brackets, its end and the commas between. */
function findBrace(source: string): { at: number; end: number; commas: number[] } | undefined {
  let at: number | undefined;
  let depth = 0;
  let inSet = false;
  const commas: number[] = [];
  for (let index = 0; index < source.length; index++) {
    const char = source[index];
    if (char === '\\') index++;
    else if (char === '[') inSet ||= source.includes(']', index);
    else if (char === ']') inSet = false;
    else if (inSet) continue;
    else if (char === '{') {
      depth++;
      at ??= index;
    } else if (char === ',' && depth === 1) commas.push(index);
    else if (char === '}') {
      if (at === undefined) throw new GlobError('has a `}` without its `{`; write `\\}` for the character');
      if (--depth === 0) return { at, end: index, commas };
    }
  }
  if (at !== undefined) throw new GlobError('has a `{` without its `}`; write `\\{` for the character');
  return undefined;
}

/** A text with unknown pieces: `null` stands for any text, the empty one included. */
export type Pieces = readonly (string | null)[];

export interface Glob {
  source: string;
  /** The text when the glob has no wildcard. */
  literal: string | undefined;
  test(text: string): boolean;
  /** `yes`: every text of these pieces matches. `maybe`: some may. */
  testPieces(pieces: Pieces): Truth;
}

/**
 * `*`: any text without a slash. `**`: any text; `**` and a slash: any folders, or none. `?`: a single character, no slash. `[a-c]`, `[!a]`,
 * `{a,b}`. A backslash takes the next character literally. Takes time linear in the text: a set of positions advances character by character.
 * @param separated false: the text has no folders, so `*` and `?` match a slash, too
 * @throws GlobError
 */
export function compileGlob(source: string, separated = true): Glob {
  const programs = expandBraces(source).map((one) => parse(one, separated));
  const literals = programs.map(literalOf);
  const literal = literals.length === 1 ? literals[0] : undefined;
  const exact = literals.every((one) => one !== undefined) ? new Set(literals) : undefined;
  const needed = programs.map(longestText);
  const test = (text: string): boolean =>
    literal !== undefined
      ? text === literal
      : (exact?.has(text) ??
        programs.some((program, index) => text.includes(needed[index] ?? '') && run(program, [text]) === 'yes'));
  return {
    source,
    literal,
    test,
    testPieces(pieces) {
      const [only] = pieces;
      if (pieces.length === 1 && typeof only === 'string') return test(only) ? 'yes' : 'no';
      const found = programs.map((program) => run(program, pieces));
      return found.includes('yes') ? 'yes' : found.includes('maybe') ? 'maybe' : 'no';
    },
  };
}

type Token =
  | { kind: 'char'; char: string }
  | { kind: 'one'; accepts: (char: string) => boolean }
  | { kind: 'star'; accepts: (char: string) => boolean }
  /** `**` before a slash: whole folders. Its slash is the next token. */
  | { kind: 'folders' };

const notSlash = (char: string) => char !== '/';
const anyChar = () => true;

function parse(source: string, separated: boolean): Token[] {
  const chars = [...source];
  const tokens: Token[] = [];
  const inFolder = separated ? notSlash : anyChar;
  for (let at = 0; at < chars.length; at++) {
    const char = chars[at] ?? '';
    if (char === '\\') {
      const next = chars[++at];
      if (next === undefined) throw new GlobError('ends with a backslash');
      tokens.push({ kind: 'char', char: next });
    } else if (char === '*' && chars[at + 1] === '*') {
      while (chars[at + 1] === '*') at++;
      const startsFolder = tokens.length === 0 || isSlash(tokens.at(-1));
      if (!separated || !startsFolder || chars[at + 1] !== '/') tokens.push({ kind: 'star', accepts: anyChar });
      // `**/**/` is the same as `**/`.
      else if (tokens.at(-2)?.kind === 'folders') at++;
      else tokens.push({ kind: 'folders' });
    } else if (char === '*') tokens.push({ kind: 'star', accepts: inFolder });
    else if (char === '?') tokens.push({ kind: 'one', accepts: inFolder });
    else if (char === '[') {
      const end = chars.indexOf(']', at + (chars[at + 1] === '!' || chars[at + 1] === '^' ? 3 : 2));
      if (end === -1) throw new GlobError('has a `[` without its `]`; write `\\[` for the character');
      const accepts = characterSet(chars.slice(at + 1, end));
      tokens.push({ kind: 'one', accepts: (one) => inFolder(one) && accepts(one) });
      at = end;
    } else tokens.push({ kind: 'char', char });
  }
  return tokens;
}

const isSlash = (token: Token | undefined): boolean => token?.kind === 'char' && token.char === '/';

function characterSet(inside: readonly string[]): (char: string) => boolean {
  const negated = inside[0] === '!' || inside[0] === '^';
  const ranges: [string, string][] = [];
  for (let at = negated ? 1 : 0; at < inside.length; at++) {
    const from = inside[at] ?? '';
    const to = inside[at + 1] === '-' ? inside[at + 2] : undefined;
    ranges.push([from, to ?? from]);
    if (to !== undefined) at += 2;
  }
  return (char) => ranges.some(([from, to]) => from <= char && char <= to) !== negated;
}

const literalOf = (tokens: readonly Token[]): string | undefined =>
  tokens.every(({ kind }) => kind === 'char') ? longestText(tokens) : undefined;

/** A text contained in every match: a search for this text refuses most inputs, 50 times as fast as a run. */
function longestText(tokens: readonly Token[]): string {
  let longest = '';
  let text = '';
  tokens.forEach((token, at) => {
    const isOptional = tokens[at - 1]?.kind === 'folders';
    text = token.kind === 'char' && !isOptional ? text + token.char : '';
    if (text.length > longest.length) longest = text;
  });
  return longest;
}

/** Advances the possible and the certain positions, piece by piece. An unknown piece keeps only an open `**` certain. */
function run(tokens: readonly Token[], pieces: Pieces): Truth {
  const end = tokens.length;
  let possible = enter(tokens, new Uint8Array(end + 1), 0);
  let certain = possible;
  for (const piece of pieces) {
    if (piece === null) {
      possible = possible.slice().fill(1, possible.indexOf(1));
      certain = keepOpen(tokens, certain);
      continue;
    }
    for (const char of piece) {
      const same = certain === possible;
      possible = step(tokens, possible, char);
      if (!possible.includes(1)) return 'no';
      certain = same ? possible : step(tokens, certain, char);
    }
  }
  return certain[end] === 1 ? 'yes' : possible[end] === 1 ? 'maybe' : 'no';
}

function keepOpen(tokens: readonly Token[], set: Uint8Array): Uint8Array {
  const kept = new Uint8Array(set.length);
  tokens.forEach((token, at) => {
    if (set[at] !== 1) return;
    if (token.kind === 'star' && token.accepts === anyChar) enter(tokens, kept, at);
    if (token.kind === 'folders') kept.fill(1, at, at + 2);
  });
  return kept;
}

function step(tokens: readonly Token[], set: Uint8Array, char: string): Uint8Array {
  const next = new Uint8Array(set.length);
  tokens.forEach((token, at) => {
    if (set[at] !== 1) return;
    if (token.kind === 'star') {
      if (token.accepts(char)) enter(tokens, next, at);
    } else if (token.kind === 'folders') {
      next[at] = 1;
      next[at + 1] = 1;
    } else if (token.kind === 'char' ? token.char === char : token.accepts(char)) enter(tokens, next, at + 1);
  });
  return next;
}

/** Reaches a position, and the positions behind a star, because a star may stand for no text. Folders may be skipped with their slash. */
function enter(tokens: readonly Token[], set: Uint8Array, at: number): Uint8Array {
  set[at] = 1;
  const { kind } = tokens[at] ?? {};
  if (kind === 'star') enter(tokens, set, at + 1);
  if (kind === 'folders') {
    set[at + 1] = 1;
    enter(tokens, set, at + 2);
  }
  return set;
}
