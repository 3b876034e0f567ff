import type { LiveFrame } from '@holdpoint/contract';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { join, type Written } from './written.ts';

const since = '2026-01-01T00:00:00.000Z';
const whole = 'The quick brown fox jumps over the lazy dog. '.repeat(4);
const piece = (from: number, to: number): LiveFrame => ({
  kind: 'command.output',
  since,
  offset: from,
  text: whole.slice(from, to),
});

it('shows each character once, wherever a stream is cut and begins again', () => {
  const cut = fc.record({ at: fc.nat(whole.length), step: fc.integer({ min: 1, max: 30 }) });
  fc.assert(
    fc.property(fc.array(cut, { maxLength: 6 }), (cuts) => {
      let shown: Written | undefined;
      // Each stream begins at the beginning, reads on in pieces, and is cut somewhere; the last is not.
      for (const { at, step } of [...cuts, { at: whole.length, step: 7 }]) {
        for (let from = 0; from < at; from += step) {
          shown = join('output', shown, piece(from, Math.min(at, from + step)));
        }
      }
      expect(shown?.text ?? '').toBe(whole);
    }),
  );
});

it('says where text is missing, and begins again with another beginning', () => {
  const first = join('output', undefined, piece(0, 4));
  const torn = join('output', first, piece(10, 15));
  expect(torn.text).toBe('The \n[…]\nbrown');
  expect(join('output', torn, { ...piece(0, 3), since: '2026-01-01T00:00:01.000Z' }).text).toBe('The');
});
