import { createHash } from 'node:crypto';
import { outputsFolder } from '@holdpoint/contract';
import { expect, test } from 'vitest';
import { asText } from './read-text.ts';

const digestOf = (data: Buffer) => createHash('sha256').update(data).digest('hex');
const read = (path: string, data: Buffer) =>
  asText(path, { data, bytes: data.length, mode: 0o444, sha256: digestOf(data) });

test('the whole text of a long result is refused after any flip of a bit, and any other file is read as it is', () => {
  const whole = Buffer.from('line 1\nline 2\n');
  const path = `${outputsFolder}/bash-${digestOf(whole).slice(0, 12)}.txt`;
  expect(read(path, whole)).toMatchObject({ ok: true });
  for (let bit = 0; bit < whole.length * 8; bit++) {
    const flipped = Buffer.from(whole);
    flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    expect(read(path, flipped)).toMatchObject({ ok: false, failure: { error: { code: 'EDAMAGED' } } });
    const elsewhere = read('outputs/bash-0123456789ab.txt', flipped);
    if (!elsewhere.ok) expect(elsewhere.failure.error.code).toBe('EBINARY');
  }
});
