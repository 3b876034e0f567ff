import widthOf from 'fast-string-truncated-width';

/** Cuts a text without colours to this many columns of a terminal. */
export function fit(text: string, columns: number): string {
  const limit = Math.max(1, columns);
  const { index, truncated } = widthOf(text, { limit, ellipsis: '…', ellipsisWidth: 1 });
  if (!truncated) return text;
  let kept = text.slice(0, index);
  // Behind a character outside of Latin the library keeps a column too many.
  while (kept !== '' && widthOf(kept).width > limit - 1) kept = kept.slice(0, kept.at(-1)?.isWellFormed() ? -1 : -2);
  return `${kept}…`;
}

/** Keeps the first and the last lines, and says how many lie between them. */
export function fold(
  lines: readonly string[],
  { head, tail, note = '' }: { head: number; tail: number; note?: string },
): string[] {
  const left = lines.length - head - tail;
  // A note in place of a single line saves nothing.
  if (left <= 1) return [...lines];
  return [...lines.slice(0, head), `… ${left} more lines${note}`, ...lines.slice(lines.length - tail)];
}
