/** A claim of the demo is false. */
export class Unexpected extends Error {
  override readonly name = 'Unexpected';
}

/** @throws Unexpected */
export function expect(holds: boolean, what: string): asserts holds {
  if (!holds) throw new Unexpected(`expected: ${what}`);
}

/** @throws Unexpected */
export function expectEqual(actual: unknown, expected: unknown, what: string): void {
  if (actual === expected) return;
  throw new Unexpected(`${what}: expected ${JSON.stringify(expected)}, found ${JSON.stringify(actual)}`);
}
