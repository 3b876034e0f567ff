import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cutText, headOf, linePage, mostText } from './bounds.ts';

/** Characters of one to four bytes, and line ends. */
const text = fc.string({ unit: fc.constantFrom('a', '\n', 'é', '€', '😀', '\r', '\t'), maxLength: 400 });

test('the head of a text is a beginning of it, within the bound, and no character is cut', () => {
  const most = fc.integer({ min: 0, max: 500 });
  fc.assert(
    fc.property(text, most, (whole, bound) => {
      const head = headOf(whole, bound);
      expect(Buffer.byteLength(head)).toBeLessThanOrEqual(bound);
      expect(whole.startsWith(head)).toBe(true);
      // One more character of up to four bytes would not fit.
      if (head !== whole) expect(Buffer.byteLength(head)).toBeGreaterThan(bound - 4);
    }),
  );
});

test('a cut text keeps its bound and names its whole length', () => {
  const most = fc.integer({ min: 100, max: 300 });
  fc.assert(
    fc.property(text, most, (whole, bound) => {
      const cut = cutText(whole, bound, 'elsewhere');
      expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(bound);
      if (cut !== whole) expect(cut).toContain(`[${Buffer.byteLength(whole)} bytes in all; elsewhere]`);
    }),
  );
});

test('the pages of a text, one after the other, are its lines, and each page fits', () => {
  const most = fc.integer({ min: 1, max: 200 });
  fc.assert(
    fc.property(text, most, (whole, bound) => {
      const seen: string[] = [];
      for (let from: number | null = 1; from !== null; ) {
        const page = linePage(whole, { from, most: bound });
        const lines = page.lines === 0 ? [] : page.text.split('\n').slice(0, page.lines);
        if (page.lines > 1) expect(Buffer.byteLength(page.text)).toBeLessThanOrEqual(bound);
        expect(page.next === null || page.next > from).toBe(true);
        seen.push(...lines);
        from = page.next;
      }
      const all = whole === '' ? [] : whole.replace(/\n$/, '').split('\n');
      expect(seen).toHaveLength(all.length);
      for (const [at, line] of all.entries()) if (Buffer.byteLength(line) < bound) expect(seen[at]).toBe(line);
    }),
  );
});

test('a line of 10 MB makes a page within the bound', () => {
  const page = linePage(`${'x'.repeat(10_000_000)}\nend\n`, { from: 1, most: mostText });
  expect(Buffer.byteLength(page.text)).toBeLessThanOrEqual(mostText);
  expect(page).toMatchObject({ lines: 1, total: 2, next: 2 });
});
