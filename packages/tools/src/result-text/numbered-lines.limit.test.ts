import fc from 'fast-check';
import { expect, test } from 'vitest';
import { renderLines } from './file-content.ts';

/** A file as `read_file` returns it from a line on: 64 KiB at most. */
function excerpt(lines: readonly string[], offset: number) {
  const kept: string[] = [];
  let bytes = 0;
  for (const line of lines.slice(offset - 1)) {
    bytes += Buffer.byteLength(line) + 1;
    if (bytes > 64 * 1024 && kept.length > 0) break;
    kept.push(`${line}\n`);
  }
  const end = offset - 1 + kept.length;
  return {
    ...{ content: kept.join(''), start_line: offset, line_count: kept.length, total_lines: lines.length },
    ...{ line_endings: 'lf', final_newline: true, ...(end < lines.length && { next_offset: end + 1 }) },
  };
}

/** Reads on as a model does: where the head says. */
function readAll(lines: readonly string[]): { read: string[]; longest: number } {
  const read: string[] = [];
  let longest = 0;
  for (let offset: number | undefined = 1; offset !== undefined; ) {
    const text = renderLines({ status: 'succeeded', value: excerpt(lines, offset) });
    if (text === undefined) throw new Error('no text');
    const { head, body } = text;
    const [, from, to, total] = /^lines (\d+)-(\d+) of (\d+)/.exec(head) ?? [];
    const numbered = body.split('\n').map((line) => /^(\d+)\t(.*)$/s.exec(line));
    expect(numbered.map((line) => Number(line?.[1]))).toEqual(
      Array.from({ length: Number(to) - Number(from) + 1 }, (_, at) => Number(from) + at),
    );
    expect([Number(from), Number(total)]).toEqual([offset, lines.length]);
    read.push(...numbered.map((line) => line?.[2] ?? ''));
    longest = Math.max(longest, numbered.length > 1 ? Buffer.byteLength(body) : 0);
    const next: string | undefined = /continue with offset (\d+)/.exec(head)?.[1];
    offset = next === undefined ? undefined : Number(next);
  }
  return { read, longest };
}

test('a long file is read part by part, each of at most 16 KiB', () => {
  const lines = Array.from({ length: 3000 }, (_, at) => `const value${at} = "${'x'.repeat(at % 80)}";`);
  const { read, longest } = readAll(lines);
  expect(read).toEqual(lines);
  expect(longest).toBeLessThanOrEqual(16 * 1024);
  expect(longest).toBeGreaterThan(15 * 1024);
});

test('any file is read whole, whatever the length of its lines', () => {
  const line = fc.oneof(
    fc.string({ unit: fc.constantFrom('a', 'é', '😀', '\t', '"') }),
    fc.integer({ min: 10_000, max: 40_000 }).map((length) => 'é'.repeat(length)),
  );
  fc.assert(
    fc.property(fc.array(line, { minLength: 1, maxLength: 30 }), (lines) => {
      expect(readAll(lines).read).toEqual(lines);
    }),
    { numRuns: 100 },
  );
});
