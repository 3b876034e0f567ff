import type { Node, QueryMatch } from '@vscode/tree-sitter-wasm';
import type { ReferenceFact } from '../facts.ts';
import type { SymbolKind } from '../grammars/grammar.ts';

/** A match of a query, before its surroundings are known. Indices count UTF-16 units of the text. */
export interface Found {
  role: 'symbol' | 'scope' | 'block' | 'binding' | 'local' | 'drop' | 'mark' | 'reference';
  name: string;
  /** Where the name is: the same name is found by several patterns. */
  nameStart: number;
  start: number;
  end: number;
  startPlace: Place;
  /** Only symbols have an end. */
  endPlace?: Place;
  pattern: number;
  kind?: SymbolKind;
  /** The match holds all text up to the next match of this kind. */
  isRest?: boolean;
  /** Containers named by the declaration, not by position. */
  within?: string[];
  reference?: ReferenceFact['kind'];
  qualifier?: string;
}

/** The nodes of a match by their purpose. */
export interface ReadMatch {
  role?: Role;
  whole?: Node;
  name?: Node;
  qualifier?: Node;
  within: Node[];
  imported?: Node;
  exported?: Node;
}

/** A longer name is no name, but text around an error. */
export const maxName = 256;
const maxQualifier = 60;

export function readMatch({ captures }: QueryMatch): ReadMatch {
  const read: ReadMatch = { within: [] };
  for (const { name: capture, node } of captures) {
    if (capture === 'name') read.name = node;
    else if (capture === 'qualifier') read.qualifier = node;
    else if (capture === 'in') read.within.push(node);
    else if (capture === 'import') read.imported = node;
    else if (capture === 'export') read.exported = node;
    else if (!capture.startsWith('_')) {
      read.role = roleOf(capture);
      read.whole = node;
    }
  }
  return read;
}

/** Each property of a node is a call into WASM, so the function reads only the needed properties. */
export function toFound(text: string, pattern: number, role: Role, nodes: ReadMatch & { whole: Node }): Found {
  const { whole, name = whole, qualifier, within } = nodes;
  const isLeaf = role.role === 'reference' || role.role === 'local' || role.role === 'drop';
  return {
    ...role,
    name: nameOf(role, text, name),
    nameStart: name.startIndex,
    start: whole.startIndex,
    end: isLeaf ? whole.startIndex + 1 : whole.endIndex,
    startPlace: startOf(whole),
    ...(!isLeaf && { endPlace: endOf(whole) }),
    pattern,
    ...(qualifier && { qualifier: qualifierText(text, qualifier) }),
    ...(within.length > 0 && { within: within.flatMap((node) => partsOf(text, node)) }),
  };
}

type Role = Pick<Found, 'role' | 'kind' | 'reference' | 'isRest'> & { mark?: string };
const roles = new Map<string, Role>();

/** `symbol.class`, `mark.export`, `call`. */
function roleOf(capture: string): Role {
  const known = roles.get(capture);
  if (known) return known;
  const [role = '', kind, rest] = capture.split('.');
  const made = {
    ...(/^(call|type|value|extends)$/.test(role) ? { role: 'reference', reference: role } : { role }),
    ...(kind && (role === 'mark' ? { mark: kind } : { kind })),
    ...(rest && { isRest: true }),
  } as Role;
  roles.set(capture, made);
  return made;
}

function nameOf({ role, mark }: Role, text: string, node: Node): string {
  if (mark !== undefined) return mark;
  if (role === 'block') return '';
  if (role === 'scope') return partsOf(text, node).at(-1) ?? '';
  const start = node.startIndex;
  return unquote(text.slice(start, Math.min(node.endIndex, start + maxName + 2)));
}

/** The names in `A::B<C>`, `&mut T`. */
function partsOf(text: string, node: Node): string[] {
  const written = text.slice(node.startIndex, Math.min(node.endIndex, node.startIndex + maxName));
  return written
    .replace(/<.*/s, '')
    .replaceAll(/'\w+\s|\b(mut|dyn|const)\b/g, '')
    .split(/::|\./)
    .map((part) => part.replaceAll(/[^\p{L}\p{N}_$]/gu, ''))
    .filter((part) => part !== '');
}

function qualifierText(text: string, node: Node): string {
  const end = node.endIndex;
  return end - node.startIndex > maxQualifier ? '…' : text.slice(node.startIndex, end).replaceAll(/\s+/g, '');
}

function unquote(name: string): string {
  if (name.startsWith(':')) return unquote(name.slice(1));
  const first = name[0];
  const isQuoted = name.length > 1 && (first === '"' || first === "'" || first === '`') && name.endsWith(first);
  return isQuoted ? name.slice(1, -1) : name;
}

/** As in the facts: from 1. */
export interface Place {
  line: number;
  column: number;
}

export function startOf(node: Node): Place {
  return toPlace(node.startPosition);
}

function endOf(node: Node): Place {
  return toPlace(node.endPosition);
}

function toPlace({ row, column }: { row: number; column: number }): Place {
  return { line: row + 1, column: column + 1 };
}

/** A match of the query, with the declarations around the match. */
export interface Nested extends Found {
  /** The declaration, scope or block around the match. */
  parent?: Nested;
  /** The nearest function or block around the match: local variables belong to this scope. */
  scope?: Nested;
  /** The marks between the match and its parent. */
  marks: ReadonlySet<string>;
  /** The names of the declarations and scopes around the match, outermost first. */
  container: readonly string[];
  /** Names without a meaning outside. */
  locals?: Set<string>;
}

/** Deeper containers are named by the outer ones: without a bound, the names grow with the square of the depth. */
export const maxDepth = 32;
const noMarks: ReadonlySet<string> = new Set();

/** Finds the parents of each match, by position alone. In the order of the text. */
export function nest(found: Found[]): Nested[] {
  const ordered = found.toSorted(
    (a, b) => a.start - b.start || b.end - a.end || rank(a) - rank(b) || a.pattern - b.pattern,
  );
  const open: Nested[] = [];
  return ordered.flatMap((one) => {
    while (open.length > 0 && (open.at(-1)?.end ?? 0) <= one.start) open.pop();
    const nested = place(one, open.at(-1));
    if (isBody(nested)) return [];
    if (one.role !== 'reference' && one.role !== 'local' && one.role !== 'binding') open.push(nested);
    return [nested];
  });
}

/** A mark says something about a declaration of the same range. */
function rank({ role }: Found): number {
  return role === 'mark' ? 0 : 1;
}

function place(one: Found, around: Nested | undefined): Nested {
  const isMarked = around?.role === 'mark';
  let parent = isMarked ? around.parent : around;
  // A parameter of a constructor may declare a field.
  if (one.kind === 'field' && parent?.kind === 'method') parent = parent.parent;
  // `a = b = 1` declares two variables side by side.
  while (isVariable(one) && parent && isVariable(parent)) parent = parent.parent;
  return {
    ...one,
    marks: isMarked ? new Set([...around.marks, around.name]) : noMarks,
    container: inside(parent, one.within),
    ...(parent && { parent }),
    ...(parent && (isFunctionLike(parent) ? { scope: parent } : parent.scope && { scope: parent.scope })),
  };
}

/** The body of a namespace is no scope of its own. */
function isBody({ role, marks, parent, end }: Nested): boolean {
  return role === 'block' && (marks.has('ambient') || (parent?.kind === 'module' && parent.end === end));
}

function isVariable({ role, kind }: Found): boolean {
  return role === 'symbol' && (kind === 'variable' || kind === 'constant');
}

function inside(parent: Nested | undefined, within: string[] = []): readonly string[] {
  const around = parent === undefined ? [] : parent.container;
  const isNamed = parent?.role === 'symbol' || parent?.role === 'scope';
  if (around.length >= maxDepth || (!isNamed && within.length === 0)) return around;
  return [...around, ...(isNamed ? [parent.name] : []), ...within].slice(0, maxDepth);
}

export function isFunctionLike({ role, kind }: Found): boolean {
  return role === 'block' || (role === 'symbol' && (kind === 'function' || kind === 'method'));
}
