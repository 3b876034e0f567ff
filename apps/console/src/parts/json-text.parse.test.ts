import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parseJson } from './json-text.ts';

it.each([
  ['{"a": 1,}', 1, 9],
  ['{"a": 1\n "b": 2}', 2, 2],
  ['[1, 2', 1, 6],
  ['{\n  "a": tru\n}', 2, 8],
  ['{"a": "b\nc"}', 1, 9],
  ['', 1, 1],
  ['{"a": 1} x', 1, 10],
  ["{'a': 1}", 1, 2],
])('names the place where %j breaks', (text, line, column) => {
  expect(parseJson(text)).toMatchObject({ ok: false, line, column });
});

it('reads what JSON.parse reads, and finds a place in everything else', () => {
  const anyText = fc.oneof(
    fc.json(),
    fc.tuple(fc.json(), fc.nat(), fc.string({ maxLength: 2 })).map(([text, at, put]) => {
      const place = text.length === 0 ? 0 : at % text.length;
      return text.slice(0, place) + put + text.slice(place + 1);
    }),
  );
  fc.assert(
    fc.property(anyText, (text) => {
      const parsed = parseJson(text);
      let value: unknown;
      try {
        value = JSON.parse(text);
      } catch {
        if (parsed.ok) throw new Error('read what JSON.parse refuses');
        const lines = text.split('\n');
        expect(parsed.line).toBeLessThanOrEqual(lines.length);
        expect(parsed.column).toBeLessThanOrEqual((lines[parsed.line - 1]?.length ?? 0) + 1);
        return;
      }
      expect(parsed).toEqual({ ok: true, value });
    }),
    { numRuns: 2000 },
  );
});
