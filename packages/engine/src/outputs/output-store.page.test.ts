import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type OutputStore, openOutputStore } from './output-store.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'hp-outputs-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Every page from the beginning on, and the ranges that were left out. */
async function readAll(store: OutputStore, id: string, maxBytes: number) {
  const texts: { from: number; text: string; next: number }[] = [];
  let omitted = 0;
  for (let from = 0; ; ) {
    const page = await store.read(id, { stream: 'stdout', from, maxBytes });
    omitted += page.omitted;
    if (page.next === from) return { texts, omitted, total: page.total };
    texts.push(page);
    from = page.next;
  }
}

test('whatever the chunks, the bounds and the pages: what is read is what was written, but for the middle', async () => {
  const chunk = fc.oneof(fc.string({ unit: 'grapheme', maxLength: 30 }), fc.string({ unit: 'binary', maxLength: 30 }));
  await fc.assert(
    fc.asyncProperty(
      fc.array(chunk, { maxLength: 30 }),
      fc.integer({ min: 0, max: 60 }),
      fc.integer({ min: 0, max: 60 }),
      fc.integer({ min: 1, max: 40 }),
      fc.integer({ min: 4, max: 50 }),
      async (chunks, headBytes, tailBytes, segmentBytes, maxBytes) => {
        const store = openOutputStore(folder, { headBytes, tailBytes, segmentBytes });
        const writer = store.open('task_1');
        for (const text of chunks) {
          writer.write('stdout', Buffer.from(text));
          // A reader in between disturbs nothing.
          await store.read('task_1', { stream: 'stdout', from: 0, maxBytes });
        }
        await writer.close();
        const whole = Buffer.from(chunks.join(''));
        const { texts, omitted, total } = await readAll(store, 'task_1', maxBytes);
        expect(total).toBe(whole.length);
        for (const { from, next, text } of texts) expect(text).toBe(whole.subarray(from, next).toString());
        const read = texts.reduce((sum, { from, next }) => sum + next - from, 0);
        expect(read + omitted).toBe(whole.length);
        const kept = Math.min(whole.length, headBytes + tailBytes);
        expect(read).toBeGreaterThanOrEqual(kept);
      },
    ),
    { numRuns: 150 },
  );
});

test('a character is not cut between two pages', async () => {
  const store = openOutputStore(folder);
  const writer = store.open('task_2');
  writer.write('stdout', Buffer.from('ab€cd'));
  const first = await store.read('task_2', { stream: 'stdout', from: 0, maxBytes: 4 });
  expect(first).toEqual({ text: 'ab', from: 0, next: 2, total: 7, omitted: 0 });
  expect((await store.read('task_2', { stream: 'stdout', from: 2, maxBytes: 4 })).text).toBe('€c');
  await writer.close();
});

test('streams are apart, an unknown task has printed nothing, and a second writer begins anew', async () => {
  const store = openOutputStore(folder);
  const writer = store.open('task_3');
  writer.write('stderr', Buffer.from('problem'));
  await writer.close();
  const at = { from: 0, maxBytes: 100 };
  expect((await store.read('task_3', { stream: 'stderr', ...at })).text).toBe('problem');
  const nothing = { text: '', from: 0, next: 0, total: 0, omitted: 0 };
  expect(await store.read('task_3', { stream: 'stdout', ...at })).toEqual(nothing);
  expect(await store.read('task_4', { stream: 'stdout', ...at })).toEqual(nothing);
  await store.open('task_3').close();
  expect(await store.read('task_3', { stream: 'stderr', ...at })).toEqual(nothing);
  expect(await store.list()).toContain('task_3');
  await store.remove('task_3');
  expect(await store.list()).not.toContain('task_3');
  await expect(async () => store.read('../etc', { stream: 'stdout', ...at })).rejects.toThrow('no task id');
});

test('gigabytes leave two megabytes', async () => {
  const store = openOutputStore(folder, { headBytes: 100_000, tailBytes: 100_000 });
  const writer = store.open('task_5');
  const chunk = Buffer.alloc(65_000, 'x');
  for (let n = 0; n < 1000; n++) writer.write('stdout', chunk);
  await writer.close();
  expect(readdirSync(join(folder, 'task_5')).length).toBeLessThan(8);
  const page = await store.read('task_5', { stream: 'stdout', from: 30_000_000, maxBytes: 10 });
  expect(page).toMatchObject({ text: 'xxxxxxxxxx', total: 65_000_000 });
  expect(page.omitted).toBe(page.from - 30_000_000);
});
