/**
 * A pattern in the words of fast-glob, where the two differ beyond `withLiterals`:
 * - to fast-glob `a/**` is also `a` itself, to git and bash only what is inside
 * - fast-glob takes `?` for a name when it is the only wildcard of a directory (`src/?/a`), so it becomes a class of characters
 */
export function asFastGlob(pattern: string, { dot }: { dot: boolean }): string {
  const segments = withLiterals(pattern)
    .split('/')
    .map((segment, index, all) => {
      const isDirectory = index < all.length - 1;
      if (!isDirectory || !segment.includes('?') || /[*[\]{}()]/.test(segment)) return segment;
      return segment.replace(/\\.|\?/g, (found, at: number) => {
        if (found !== '?') return found;
        return at === 0 && !dot ? anyButDot : any;
      });
    });
  return withLiterals(pattern.endsWith('/**') ? `${segments.join('/')}/*` : segments.join('/'));
}

/**
 * Characters that fast-glob would not take for themselves:
 * - a `+` behind a class or parentheses repeats them
 * - fast-glob reads a pattern that ends in an escaped bracket or brace (`app/\[id\]`) as a directory, and the same as a class as a name
 */
export function withLiterals(pattern: string): string {
  if (!/[[\](){}]/.test(pattern)) return pattern;
  return pattern.replace(/\\.|\[[!^]?\]?(?:\\.|[^\]\\])*\]|\+(?!\()/gs, (found) => {
    if (found === '+') return '\\+';
    return /^\\[[\]{}]$/.test(found) ? `[${found.slice(1)}]` : found;
  });
}

/** Every character of a name. */
const any = '[\u0001-.0-\uffff]';
const anyButDot = '[\u0001-,0-\uffff-]';
