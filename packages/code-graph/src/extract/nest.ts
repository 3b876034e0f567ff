import type { Found } from './read-match.ts';

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
