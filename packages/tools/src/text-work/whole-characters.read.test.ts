import { expect, test } from 'vitest';
import { wholeCharacters } from './whole-characters.ts';

test('text cut at any byte ends with a whole character', () => {
  for (const text of ['', 'a', 'aé', 'a€', 'a😀', 'éé€😀a']) {
    const data = Buffer.from(text);
    for (let end = 0; end <= data.length; end++) {
      const kept = wholeCharacters(data.subarray(0, end));
      expect(text.startsWith(kept.toString())).toBe(true);
      expect(end - kept.length).toBeLessThan(4);
    }
    expect(wholeCharacters(data).equals(data)).toBe(true);
  }
  // Continuation bytes without a beginning are no text; they stay.
  expect(wholeCharacters(Buffer.from([0x80, 0x80, 0x80, 0x80]))).toHaveLength(4);
});
