/** Names and values, one pair per line, values aligned. Pairs without a value are left out. */
export function pairs(values: Readonly<Record<string, string | null | undefined>>): string[] {
  const given = Object.entries(values).filter(
    (entry): entry is [string, string] => entry[1] != null && entry[1] !== '',
  );
  const width = Math.max(0, ...given.map(([name]) => name.length));
  const indent = ' '.repeat(width + 2);
  return given.map(([name, value]) => `${name.padEnd(width)}  ${value.replaceAll('\n', `\n${indent}`)}`);
}
