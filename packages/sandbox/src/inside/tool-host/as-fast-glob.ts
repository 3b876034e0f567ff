/**
 * Translates a pattern of git and bash for fast-glob, including `withLiterals`. The differences:
 * - in fast-glob `a/**` also matches `a`, in git and bash only the entries inside
 * - fast-glob reads `?` literally when `?` is the only wildcard of a directory (`src/?/a`), so `?` becomes a class of characters
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
 * Escapes literal characters with a special meaning in fast-glob:
 * - a `+` behind a class or parentheses repeats the class or group
 * - fast-glob reads a pattern ending in an escaped bracket or brace (`app/\[id\]`) as a directory, but a pattern ending in a class as a
 *   name
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
