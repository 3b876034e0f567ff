import widthOf from 'fast-string-truncated-width';

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

/** Columns, without colours. */
const visibleLength = (text: string): number => widthOf(text).width;

/** Names and values, one pair per line, values aligned. Pairs without a value are left out. */
export function pairs(values: Readonly<Record<string, string | null | undefined>>): string[] {
  const given = Object.entries(values).filter(
    (entry): entry is [string, string] => entry[1] != null && entry[1] !== '',
  );
  const width = Math.max(0, ...given.map(([name]) => name.length));
  const indent = ' '.repeat(width + 2);
  return given.map(([name, value]) => `${name.padEnd(width)}  ${value.replaceAll('\n', `\n${indent}`)}`);
}
