import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { CachePlace } from '../store/open-store.ts';
import { GraphThread } from './graph-thread.ts';
import type { Outcome } from './messages.ts';
import { TenantThreads } from './tenant-threads.ts';

const directory = mkdtempSync(join(tmpdir(), 'holdpoint-graph-'));
const threads = new TenantThreads();
afterAll(async () => {
  await threads.close();
  rmSync(directory, { recursive: true, force: true });
});

let made = 0;
const placeOf = (): CachePlace => ({ path: join(directory, `${++made}`), origin: undefined, maxBytes: 2 ** 27 });
const oid = 'a'.repeat(40);
const at = { start: { line: 1, column: 1 }, end: { line: 1, column: 2 } };
const none = { symbols: [], imports: [], references: [], has_errors: false, cut: false };

/** Lists many names of one file with these facts. */
async function fill(thread: GraphThread, place: CachePlace, facts: object, names: number): Promise<void> {
  const entries = Array.from({ length: names }, (_, n) => ({ path: `f${n}.ts`, oid, isLink: false }));
  await thread.perform(place, { operation: 'list', snapshot: 's', listing: { since: null, entries }, total: names });
  const line = Buffer.from(JSON.stringify({ language: 'typescript', facts: { ...none, ...facts } }));
  const kept = await thread.perform(place, { operation: 'keep', read: [{ oid, hint: '.ts', bytes: 1, line }] });
  expect(kept).toEqual({ kind: 'kept', refused: [] });
}

const ask = (thread: GraphThread, place: CachePlace, query: string, params: object): Promise<Outcome> =>
  thread.perform(place, {
    ...{ operation: 'ask', timeout_ms: 60_000, permissions: undefined },
    question: { query, params: { ...params }, snapshot: 's', max_bytes: 2 ** 20 },
  });

const declarations = Array.from({ length: 20_000 }, () => ({
  ...{ name: 'x', kind: 'constant', container: [], exported: true, ...at },
}));

test('1,000 names of one file with 20,000 declarations end no thread', { timeout: 120_000 }, async () => {
  const [thread, bomb, innocent] = [new GraphThread(), placeOf(), placeOf()];
  await fill(thread, innocent, { symbols: declarations.slice(0, 1) }, 1);
  await fill(thread, bomb, { symbols: declarations, references: [{ name: 'x', kind: 'call', start: at.start }] }, 1000);
  const asked = ['definition', 'references'].map((query) => ask(thread, bomb, query, { name: 'x' }));
  const answers = ['symbols', 'files'].map((query) => ask(thread, innocent, query, {}));
  for (const one of await Promise.allSettled(asked)) {
    // Either a part of the answer within the bounds, or the reason why there is none.
    if (one.status === 'fulfilled') expect(one.value).toMatchObject({ kind: 'answer' });
    else expect(one.reason).toMatchObject({ code: 'EQUOTA', message: expect.stringContaining('has more than') });
  }
  expect((await Promise.allSettled(asked)).map(({ status }) => status)).toContain('rejected');
  expect(await Promise.all(answers)).toMatchObject([
    { kind: 'answer', results: [{ name: 'x' }] },
    { kind: 'answer', results: [{ path: 'f0.ts' }] },
  ]);
  await thread.close();
});

test('what waited behind a request that ends the thread is answered', { timeout: 120_000 }, async () => {
  const [thread, bomb, innocent] = [new GraphThread({ heapMb: 64 }), placeOf(), placeOf()];
  await fill(thread, innocent, { symbols: declarations.slice(0, 1) }, 1);
  const entries = Array.from({ length: 10_000 }, (_, n) => ({
    path: `${'folder/'.repeat(150)}f${n}.ts`,
    oid,
    isLink: false,
  }));
  const refused: unknown[] = [];
  for (let part = 0; part < 40 && refused.length === 0; part++) {
    const request = { operation: 'part', isFirst: part === 0, entries } as const;
    const given = thread.perform(bomb, request).catch((error: unknown) => refused.push(error));
    const line = Buffer.from(JSON.stringify({ language: 'typescript', facts: none }));
    const lost = thread.perform(innocent, {
      operation: 'keep',
      read: [{ oid: 'b'.repeat(40), hint: '.ts', bytes: 1, line }],
    });
    const answer = await ask(thread, innocent, 'symbols', {});
    expect(answer).toMatchObject({ kind: 'answer', results: [{ name: 'x' }] });
    expect(await lost).toEqual({ kind: 'kept', refused: [] });
    await given;
  }
  expect(refused).toMatchObject([{ code: 'EQUOTA', message: expect.stringContaining('64 MiB') }]);
  await thread.close();
});

test('tenants have threads of their own while there are enough', async () => {
  const of = (tenant: string, runId = 'run_1') => threads.of({ tenant, runId });
  const [a, b] = [of('a'), of('b')];
  expect(a).not.toBe(b);
  expect(of('a')).toBe(a);
  const many = ['c', 'd', 'e', 'f'].map((tenant) => of(tenant));
  expect(new Set(many).size).toBe(4);
  // The oldest idle threads made room.
  expect(of('a')).not.toBe(a);
});
