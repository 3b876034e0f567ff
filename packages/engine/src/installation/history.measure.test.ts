import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { copyOf } from '../testing/lagging-copy.ts';
import { useTestEngine } from '../testing/use-test-engine.ts';
import { markHistory } from './watch-history.ts';

const engine = useTestEngine();
let dataDir: string;
beforeEach(async () => {
  await engine.deps.redis.flushall();
  dataDir = mkdtempSync(join(tmpdir(), 'hp-history-'));
  return () => rmSync(dataDir, { recursive: true });
});

const mark = () => markHistory({ redis: engine.deps.redis, dataDir });

test('counts no loss while Redis keeps its data, however many workers mark at once', async () => {
  for (let round = 0; round < 5; round++) expect(await mark()).toBe(0);
  expect(await Promise.all(Array.from({ length: 20 }, mark))).toEqual(Array.from({ length: 20 }, () => 0));
});

test('counts the loss of a Redis that went back in time, once', async () => {
  for (let round = 0; round < 3; round++) await mark();
  const earlier = await copyOf(engine.deps.redis);
  for (let round = 0; round < 4; round++) await mark();
  await earlier.restore();
  expect(await mark()).toBe(4);
  expect(await mark()).toBe(0);
});
