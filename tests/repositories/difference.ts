/** What two maps do not agree on, for a reader: empty when they are equal. A whole map of thousands of entries would be unreadable. */
export function difference(found: ReadonlyMap<string, string>, expected: ReadonlyMap<string, string>): string[] {
  const paths = new Set([...found.keys(), ...expected.keys()]);
  return [...paths]
    .filter((path) => found.get(path) !== expected.get(path))
    .sort()
    .map(
      (path) =>
        `${JSON.stringify(path)}: found ${found.get(path) ?? 'nothing'}, expected ${expected.get(path) ?? 'nothing'}`,
    )
    .slice(0, 50);
}
