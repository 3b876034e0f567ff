import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cutBody } from './cut-body.ts';

const bytesInRequest = (text: string): number => Buffer.byteLength(JSON.stringify(text));

test('a long output keeps whole lines of both ends, and the note names the place of the cut', () => {
  const lines = Array.from({ length: 5000 }, (_, line) => `line ${line + 1}`);
  const { body, left } = cutBody(lines.join('\n'), 2000);
  const kept = body.split('\n');
  const cut = Number(/after the first (\d+) lines/.exec(left)?.[1]);
  expect(kept.slice(0, cut)).toEqual(lines.slice(0, cut));
  expect(kept[cut]).toBe('[…]');
  expect(kept.slice(cut + 1)).toEqual(lines.slice(cut + 1 - kept.length));
  expect(kept.length).toBeGreaterThan(150);
});

test('one long line is cut in its middle', () => {
  const { body, left } = cutBody(`begin${'x'.repeat(100_000)}end`, 1000);
  expect(body).toMatch(/^begin.*\n\[…\]\n.*end$/s);
  expect(left).toContain('after the first line,');
});

test('any text: it is whole, or near the cap, well-formed, and the same each time', () => {
  const text = fc.array(fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('\n', '😀', '[…]\n', '"\\')), {
    maxLength: 400,
  });
  fc.assert(
    fc.property(text, fc.integer({ min: 100, max: 3000 }), (parts, most) => {
      const whole = parts.join('').toWellFormed();
      const { body, left } = cutBody(whole, most);
      expect(cutBody(whole, most)).toEqual({ body, left });
      expect(body.isWellFormed()).toBe(true);
      if (left === '') {
        expect(body).toBe(whole);
        return;
      }
      expect(bytesInRequest(body)).toBeLessThanOrEqual(most + 20);
      const bytes = Number(/left out (\d+) bytes/.exec(left)?.[1]);
      expect(Buffer.byteLength(whole) - Buffer.byteLength(body) + Buffer.byteLength('\n[…]\n')).toBe(bytes);
    }),
    { numRuns: 300 },
  );
});
