import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { auditDirOf, readSegment, readSegmentBack, segmentName } from './segments.ts';

let dataDir: string;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'segments-'));
  await mkdir(auditDirOf(dataDir));
});
afterAll(() => rm(dataDir, { recursive: true }));

const name = segmentName(1);

/** Lines that are empty, short, and longer than what one read takes; bytes of any value but the line feed. */
const line = fc.oneof(
  fc.constant(''),
  fc.string({ maxLength: 20 }),
  fc.integer({ min: 65_530, max: 131_080 }).map((length) => 'x'.repeat(length)),
);

test('reads the whole lines of a file backwards, whatever their lengths and its end', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(line, { maxLength: 6 }), fc.constantFrom('', '\n', 'torn'), async (lines, end) => {
      await writeFile(
        join(auditDirOf(dataDir), name),
        lines.map((text) => text.replaceAll('\n', ' ')).join('\n') + end,
      );
      const forward = (await Array.fromAsync(readSegment(dataDir, name))).filter(({ isWhole }) => isWhole);
      const back = await Array.fromAsync(readSegmentBack(dataDir, name));
      expect(back.reverse().map(String)).toEqual(forward.map(({ bytes }) => String(bytes)));
    }),
  );
});

test('a missing file has no lines', async () => {
  expect(await Array.fromAsync(readSegmentBack(dataDir, segmentName(2)))).toEqual([]);
});
