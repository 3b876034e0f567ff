/** Cells of one width per column, two spaces apart; the last column is as long as it is. No table for no rows. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => visibleLength(row[column] ?? ''))));
  return all.map((row) =>
    row
      .map((cell, column) =>
        column === row.length - 1 ? cell : cell + ' '.repeat((widths[column] ?? 0) - visibleLength(cell)),
      )
      .join('  ')
      .trimEnd(),
  );
}

/** Colours take no place. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the escape character is what is looked for
const visibleLength = (text: string): number => text.replace(/\u001b\[[0-9;]*m/g, '').length;
