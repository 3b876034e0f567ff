import fc from 'fast-check';
import { expect, test } from 'vitest';
import { replaceText } from './replace-text.ts';

const piece = fc.constantFrom(
  ...['a', 'b', '\n', '\r\n', '\r', '\uFEFF', '𝄞', 'é', '$&', "$'", '$1', '\\', '\0', '\u2028', ' ', '\t'],
);
const text = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));
/** Bytes of a file; some are not UTF-8. */
const bytes = fc
  .array(
    fc.oneof(
      piece.map((one) => Buffer.from(one)),
      fc.constantFrom(Buffer.from([0xff]), Buffer.from([0xc3])),
    ),
    { maxLength: 12 },
  )
  .map((parts) => Buffer.concat(parts));

test('bytes outside an edit never move', () => {
  fc.assert(
    fc.property(bytes, text, text, bytes, (before, old_string, new_string, after) => {
      const data = Buffer.concat([before, Buffer.from(old_string), after]);
      const original = Buffer.from(data);
      const result = replaceText(data, { old_string, new_string, replace_all: false });
      expect(data.equals(original)).toBe(true);
      if (old_string === '' || result.status !== 'replaced') return;
      // Without replace_all the text occurs once, so it is the one between the two parts.
      expect(result.data.equals(Buffer.concat([before, Buffer.from(new_string), after]))).toBe(true);
    }),
    { numRuns: 500 },
  );
});

test('replacing all and back again restores every byte', () => {
  fc.assert(
    fc.property(fc.array(bytes, { minLength: 2, maxLength: 4 }), text, (parts, new_string) => {
      const [mark, other] = ['<mark>', `<other>${new_string}</other>`];
      const join = (separator: string) =>
        Buffer.concat(parts.flatMap((part, index) => (index === 0 ? [part] : [Buffer.from(separator), part])));
      const there = replaceText(join(mark), { old_string: mark, new_string: other, replace_all: true });
      expect(there).toMatchObject({ status: 'replaced', count: parts.length - 1 });
      if (there.status !== 'replaced') return;
      expect(there.data.equals(join(other))).toBe(true);
      const back = replaceText(there.data, { old_string: other, new_string: mark, replace_all: true });
      expect(back.status === 'replaced' && back.data.equals(join(mark))).toBe(true);
    }),
    { numRuns: 300 },
  );
});
