import { expect, test } from 'vitest';
import { inPathOrder } from './search-text.ts';

test('sorts by the bytes of each name, and keeps the order of equal paths', () => {
  const sorted = ['B', 'a/b', 'a/b/c', 'a/ü', 'a-b', 'a.b', 'ab', 'é', '\u{e000}', '\u{1f600}'];
  const items = sorted.toReversed().flatMap((path) => [1, 2].map((line) => ({ path, line })));
  expect(inPathOrder(items, ({ path }) => path)).toEqual(
    sorted.flatMap((path) => [1, 2].map((line) => ({ path, line }))),
  );
});
