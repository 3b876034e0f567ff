import type { Trace } from '@holdpoint/contract';
import type { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { submitRun } from '../commands/submit-run.ts';
import { deliverAll, inMemoryWorker, specOf, startTestEngine, type TestEngine } from '../testing/index.ts';
import { readTrace } from './read-trace.ts';

let engine: TestEngine;
beforeAll(async () => {
  engine = await startTestEngine();
});
afterAll(() => engine.stop());

async function addRun(): Promise<string> {
  const worker = inMemoryWorker(engine);
  const groups = Array.from({ length: 12 }, () => [{ args: { effect: 'read' } }]);
  const { runId } = await submitRun(worker.deps, { spec: specOf(groups), by: 'ada' });
  await deliverAll(worker.deps);
  return runId;
}

/** A connection of its own, as another process has, that notes from which entry each read of a log begins. */
function process(): { redis: Redis; reads: string[] } {
  const reads: string[] = [];
  const redis = new Proxy(engine.deps.redis, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]) => {
        if (name === 'xrange') reads.push(String(args[1]));
        return Reflect.apply(value, target, args);
      };
    },
  });
  return { redis, reads };
}

async function pagesOf(redis: Redis, runId: string): Promise<Trace[]> {
  const pages = [await readTrace({ redis }, runId, { limit: 10 })];
  for (let next = pages[0]?.next_cursor; next !== null; next = pages.at(-1)?.next_cursor ?? null) {
    pages.push(await readTrace({ redis }, runId, { after: Number(next), limit: 10 }));
  }
  return pages;
}

test('a page reads on where the page before ended', async () => {
  const runId = await addRun();
  const { redis, reads } = process();
  const pages = await pagesOf(redis, runId);
  expect(pages.length).toBeGreaterThan(3);
  const ends = pages.slice(0, -1).map(({ next_cursor }) => `${Number(next_cursor) + 1}-0`);
  expect(reads).toEqual(['1-0', ...ends]);
  const whole = await readTrace({ redis }, runId, { limit: 10_000 });
  const ids = pages.flatMap(({ spans }) => spans).map(({ span_id }) => span_id);
  expect(ids.toSorted()).toEqual(whole.spans.map(({ span_id }) => span_id).toSorted());
});

test('a page that is read again, or by another process, is the same', async () => {
  const runId = await addRun();
  const [first, second] = [process(), process()];
  const pages = await pagesOf(first.redis, runId);
  const after = Number(pages[0]?.next_cursor);
  expect(await readTrace(first, runId, { after, limit: 10 })).toEqual(pages[1]);
  expect(first.reads.at(-1)).toBe('1-0');
  expect(await readTrace(second, runId, { after, limit: 10 })).toEqual(pages[1]);
  expect(second.reads).toEqual(['1-0']);
});
