/** Aligns columns, two spaces apart. The last column is not padded. */
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

// biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with the escape character
const visibleLength = (text: string): number => text.replace(/\u001b\[[0-9;]*m/g, '').length;
