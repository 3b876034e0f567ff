/** The differences of two maps as readable lines; empty when they are equal. Assertion output with thousands of entries is unreadable. */
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
