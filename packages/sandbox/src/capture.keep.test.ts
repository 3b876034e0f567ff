import { expect, test } from 'vitest';
import { Capture } from './capture.ts';

const KEPT = 32 * 1024;

function captured(chunks: readonly Buffer[]) {
  const capture = new Capture();
  for (const chunk of chunks) capture.push(chunk);
  return capture.end();
}

test('what fits is kept whole, however it is cut into chunks', () => {
  const text = 'aé€𝄞'.repeat(6000);
  const bytes = Buffer.from(text);
  expect(bytes.length).toBeLessThan(2 * KEPT);
  for (const size of [1, 7, 4096, bytes.length]) {
    const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
      bytes.subarray(index * size, (index + 1) * size),
    );
    expect(captured(chunks)).toEqual({ text, bytes: bytes.length, truncated: false });
  }
});

test('64 KiB are kept, one byte more is not', () => {
  expect(captured([Buffer.alloc(2 * KEPT, 'x')]).truncated).toBe(false);
  const one = captured([Buffer.alloc(2 * KEPT + 1, 'x')]);
  expect(one).toEqual({
    text: `${'x'.repeat(KEPT)}\n[… 1 bytes omitted …]\n${'x'.repeat(KEPT)}`,
    bytes: 2 * KEPT + 1,
    truncated: true,
  });
});

test('the first and the last bytes are kept, and no character is cut in two', () => {
  for (const shift of [0, 1, 2, 3]) {
    const bytes = Buffer.from(`${'a'.repeat(shift)}${'𝄞'.repeat(50_000)}`);
    const { text, truncated } = captured([bytes.subarray(0, 100_000), bytes.subarray(100_000)]);
    expect(truncated).toBe(true);
    expect(text).not.toContain('\uFFFD');
    const [head = '', tail = ''] = text.split(/\n\[… \d+ bytes omitted …\]\n/);
    const omitted = Number(/\[… (\d+) bytes/.exec(text)?.[1]);
    expect(Buffer.byteLength(head) + Buffer.byteLength(tail) + omitted).toBe(bytes.length);
    expect(Buffer.byteLength(head)).toBeGreaterThan(KEPT - 4);
    expect(Buffer.byteLength(tail)).toBeGreaterThan(KEPT - 4);
  }
});

test('bytes that are no UTF-8 become replacement characters, and nothing is lost around them', () => {
  expect(captured([Buffer.from([0x61, 0xff, 0x62])]).text).toBe('a\uFFFDb');
});
