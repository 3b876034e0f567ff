import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type OutputStore, openOutputStore } from './output-store.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'hp-outputs-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const nothing = { text: '', from: 0, next: 0, total: 0, omitted: 0 };

/** Reads every page from an offset on. Checks that pages meet, and that `omitted` counts the bytes between them. */
async function readOn(store: OutputStore, id: string, at: { from: number; maxBytes: number }) {
  const pages: { from: number; text: string; next: number }[] = [];
  for (let { from } = at; ; ) {
    const page = await store.read(id, { stream: 'stdout', from, maxBytes: at.maxBytes });
    expect(page.from - page.omitted).toBe(from);
    if (page.next === from) return { pages, end: from, total: page.total };
    if (page.text !== '') pages.push(page);
    from = page.next;
  }
}

const chunks = fc.array(
  fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 30 }).map((text) => Buffer.from(text)),
    fc.uint8Array().map(Buffer.from),
  ),
  { maxLength: 30 },
);
const bounds = fc.record({
  headBytes: fc.integer({ min: 0, max: 60 }),
  tailBytes: fc.integer({ min: 0, max: 60 }),
  segmentBytes: fc.integer({ min: 1, max: 40 }),
});

test('reads what was written, except the middle, for any chunks, bounds and pages', async () => {
  const property = fc.asyncProperty(chunks, bounds, fc.integer({ min: 1, max: 50 }), async (parts, kept, maxBytes) => {
    const store = openOutputStore(folder, kept);
    const writer = store.open('task_1');
    const followed: { from: number; text: string; next: number }[] = [];
    let followedTo = 0;
    for (const part of parts) {
      writer.write('stdout', part);
      const { pages, end } = await readOn(store, 'task_1', { from: followedTo, maxBytes });
      followed.push(...pages);
      followedTo = end;
    }
    await writer.close();
    const written = Buffer.concat(parts);
    const { pages, end, total } = await readOn(store, 'task_1', { from: 0, maxBytes });
    expect([end, total]).toEqual([written.length, written.length]);
    for (const { from, next, text } of [...pages, ...followed])
      expect(text).toBe(written.subarray(from, next).toString());
    const head = Math.min(kept.headBytes, written.length);
    const tail = Math.max(written.length - kept.tailBytes, head);
    const isRead = (at: number) => pages.some(({ from, next }) => from <= at && at < next);
    for (let at = 0; at < written.length; at++) {
      if (at < head || at >= tail) expect(isRead(at)).toBe(true);
    }
    const read = pages.reduce((sum, { from, next }) => sum + next - from, 0);
    expect(read).toBeLessThanOrEqual(kept.headBytes + kept.tailBytes + 3 * (kept.segmentBytes + 3));
  });
  await fc.assert(property, { numRuns: 200 });
});

test('reads no half character, wherever chunks, files, pages and gaps end', async () => {
  const text = fc
    .array(fc.constantFrom('a', 'é', '€', '😀'), { minLength: 1, maxLength: 200 })
    .map((units) => units.join(''));
  const property = fc.asyncProperty(
    text,
    bounds,
    fc.nat(),
    fc.integer({ min: 1, max: 9 }),
    async (written, kept, maxBytes, size) => {
      const store = openOutputStore(folder, { ...kept, now: () => 0 });
      const writer = store.open('task_1');
      const data = Buffer.from(written);
      for (let at = 0; at < data.length; at += size) {
        writer.write('stdout', data.subarray(at, at + size));
        const { pages } = await readOn(store, 'task_1', { from: 0, maxBytes: 1 + (maxBytes % 50) });
        for (const page of pages) expect(page.text).not.toContain('\ufffd');
      }
      await writer.close();
    },
  );
  await fc.assert(property, { numRuns: 60 });
});

test('leaves an incomplete character for the next page, for a second', async () => {
  let time = Date.now();
  const store = openOutputStore(folder, { now: () => time });
  const writer = store.open('task_2');
  const [first, rest] = [Buffer.from('ab€').subarray(0, 4), Buffer.from('ab€cd').subarray(4)];
  writer.write('stdout', first);
  const at = { stream: 'stdout', maxBytes: 4 } as const;
  const begun = { text: 'ab', from: 0, next: 2, total: 4, omitted: 0 };
  expect(await store.read('task_2', { ...at, from: 0 })).toEqual(begun);
  expect(await store.read('task_2', { ...at, from: 2 })).toEqual({ ...begun, text: '', from: 2 });
  time += 60_000;
  expect(await store.read('task_2', { ...at, from: 2 })).toMatchObject({ text: '\ufffd', next: 4 });
  writer.write('stdout', rest);
  expect(await store.read('task_2', { ...at, from: 0 })).toEqual({ ...begun, total: 7 });
  expect(await store.read('task_2', { ...at, from: 2 })).toMatchObject({ text: '€c', next: 6 });
  expect(await store.read('task_2', { ...at, from: 0, maxBytes: 0 })).toEqual({ ...nothing, total: 7 });
  writer.write('stdout', first.subarray(2));
  await writer.close();
  time = 0;
  expect(await store.read('task_2', { ...at, from: 7 })).toMatchObject({ text: '\ufffd', next: 9, total: 9 });
});

test('separates streams, reads an unknown task as empty, replaces an old writer', async () => {
  const store = openOutputStore(folder);
  const writer = store.open('task_3');
  writer.write('stderr', Buffer.from('problem'));
  await writer.close();
  const at = { from: 0, maxBytes: 100 };
  expect((await store.read('task_3', { stream: 'stderr', ...at })).text).toBe('problem');
  expect(await store.read('task_3', { stream: 'stdout', ...at })).toEqual(nothing);
  expect(await store.read('task_4', { stream: 'stdout', ...at })).toEqual(nothing);
  await store.open('task_3').close();
  expect(await store.read('task_3', { stream: 'stderr', ...at })).toEqual(nothing);
  expect(await store.list()).toContain('task_3');
  await store.remove('task_3');
  expect(await store.list()).not.toContain('task_3');
  await expect(store.read('../etc', { stream: 'stdout', ...at })).rejects.toThrow('no task id');
  expect(() => store.open('..')).toThrow('no task id');
  await expect(store.remove('.')).rejects.toThrow('no task id');
  expect(await openOutputStore(join(folder, 'nowhere')).list()).toEqual([]);
});

test('a replaced writer fails and does not change the output of the new one', async () => {
  const store = openOutputStore(folder, { segmentBytes: 10 });
  const late = store.open('task_5');
  late.write('stdout', Buffer.from('0123456789'));
  const writer = store.open('task_5');
  writer.write('stdout', Buffer.from('new'));
  expect(() => late.write('stdout', Buffer.from('late'))).toThrow('ENOENT');
  await late.close();
  await store.remove('task_5');
  const removed = store.open('task_5');
  await store.remove('task_5');
  store.open('task_5').write('stdout', Buffer.from('newest'));
  expect(() => removed.write('stdout', Buffer.alloc(20))).toThrow('ENOENT');
  expect(await store.read('task_5', { stream: 'stdout', from: 0, maxBytes: 99 })).toMatchObject({ text: 'newest' });
});

/** Prints the numbers from 0 on, as fast as possible. */
const counting = `
  import { openOutputStore } from ${JSON.stringify(new URL('output-store.ts', import.meta.url).href)};
  const writer = openOutputStore(process.argv[1]).open('task_6');
  for (let n = 0; ; n += 5000) {
    writer.write('stdout', Buffer.from(Array.from({ length: 5000 }, (_, index) => String(n + index).padStart(9, '0') + '\\n').join('')));
  }
`;

test('can be followed while another process writes, and after its death', async () => {
  const store = openOutputStore(folder);
  const child = spawn(process.execPath, ['--input-type=module', '-e', counting, folder], { stdio: 'inherit' });
  let [from, gone, read] = [0, 0, 0];
  const follow = async () => {
    const page = await store.read('task_6', { stream: 'stdout', from, maxBytes: 40_000 });
    gone += page.omitted;
    read += page.text.length;
    // Each line names its own offset.
    const skipped = (10 - (page.from % 10)) % 10;
    const line = page.text.slice(skipped, skipped + 9);
    if (line.length === 9) expect(Number(line)).toBe((page.from + skipped) / 10);
    from = page.next;
    return page;
  };
  const printed = async () => (await store.read('task_6', { stream: 'stdout', from: 0, maxBytes: 0 })).total;
  while ((await printed()) < 2 ** 23) await nextTurn();
  while (read < 2 ** 23) await follow();
  child.kill('SIGKILL');
  await once(child, 'exit');
  for (let page = await follow(); page.text !== ''; ) page = await follow();
  const total = await printed();
  expect([from, read + gone]).toEqual([total, total]);
  expect(gone).toBeGreaterThan(2 ** 20);
  const files = readdirSync(join(folder, 'task_6'), { recursive: true });
  expect(files.length).toBeLessThan(40);
});
