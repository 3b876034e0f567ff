import { expect, test } from 'vitest';
import { Capture } from './capture.ts';

const keptBytes = 32 * 1024;

function captured(chunks: readonly Buffer[]) {
  const capture = new Capture();
  for (const chunk of chunks) capture.push(chunk);
  return capture.end();
}

test('a short stream is kept whole, however it is split into chunks', () => {
  const text = 'aé€𝄞'.repeat(6000);
  const bytes = Buffer.from(text);
  expect(bytes.length).toBeLessThan(2 * keptBytes);
  for (const size of [1, 7, 4096, bytes.length]) {
    const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
      bytes.subarray(index * size, (index + 1) * size),
    );
    expect(captured(chunks)).toEqual({ text, bytes: bytes.length, truncated: false });
  }
});

test('64 KiB are kept whole, one byte more is truncated', () => {
  expect(captured([Buffer.alloc(2 * keptBytes, 'x')]).truncated).toBe(false);
  const one = captured([Buffer.alloc(2 * keptBytes + 1, 'x')]);
  expect(one).toEqual({
    text: `${'x'.repeat(keptBytes)}\n[… 1 bytes omitted …]\n${'x'.repeat(keptBytes)}`,
    bytes: 2 * keptBytes + 1,
    truncated: true,
  });
});

test('the first and last bytes are kept without half characters', () => {
  for (const shift of [0, 1, 2, 3]) {
    const bytes = Buffer.from(`${'a'.repeat(shift)}${'𝄞'.repeat(50_000)}`);
    const { text, truncated } = captured([bytes.subarray(0, 100_000), bytes.subarray(100_000)]);
    expect(truncated).toBe(true);
    expect(text).not.toContain('\uFFFD');
    const [head = '', tail = ''] = text.split(/\n\[… \d+ bytes omitted …\]\n/);
    const omitted = Number(/\[… (\d+) bytes/.exec(text)?.[1]);
    expect(Buffer.byteLength(head) + Buffer.byteLength(tail) + omitted).toBe(bytes.length);
    expect(Buffer.byteLength(head)).toBeGreaterThan(keptBytes - 4);
    expect(Buffer.byteLength(tail)).toBeGreaterThan(keptBytes - 4);
  }
});

test('invalid UTF-8 becomes a replacement character, and its neighbours stay', () => {
  expect(captured([Buffer.from([0x61, 0xff, 0x62])]).text).toBe('a\uFFFDb');
});

test('a stream is kept as far as asked, in memory of that size', () => {
  const bytes = Buffer.from(Array.from({ length: 1_000_003 }, (_, index) => 97 + (index % 26)));
  for (const [kept, size] of [
    [1_000_003, 999],
    [1_000_002, 65_537],
    [300_001, 1_000_003],
    [1, 70_000],
  ] as const) {
    const capture = new Capture(kept);
    for (let at = 0; at < bytes.length; at += size) capture.push(bytes.subarray(at, at + size));
    const { text, truncated } = capture.end();
    const head = Math.ceil(kept / 2);
    const dropped = bytes.length - kept;
    const expected =
      dropped === 0
        ? String(bytes)
        : `${bytes.subarray(0, head)}\n[… ${dropped} bytes omitted …]\n${bytes.subarray(head + dropped)}`;
    expect([truncated, text === expected]).toEqual([dropped > 0, true]);
  }
});
