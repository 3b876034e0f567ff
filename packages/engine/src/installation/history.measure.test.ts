import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { copyOf } from '../testing/lagging-copy.ts';
import { useTestEngine } from '../testing/use-test-engine.ts';
import { markHistory, sweepUnfinished } from './watch-history.ts';

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

test('removes the rest of a write that a kill cut an hour ago, and nothing else', async () => {
  await mark();
  const id = '0123abcd-0000-4000-8000-000000000000';
  const long = new Date(Date.now() - 2 * 3_600_000);
  for (const [name, isOld] of [
    [`high-water.${id}.tmp`, true],
    [`installation.${id}.tmp`, true],
    [`high-water.${id.replace('0', '1')}.tmp`, false],
    ['mine.tmp', true],
  ] as const) {
    writeFileSync(join(dataDir, name), '');
    if (isOld) utimesSync(join(dataDir, name), long, long);
  }
  await sweepUnfinished(dataDir);
  expect(readdirSync(dataDir).sort()).toEqual(['high-water', `high-water.${id.replace('0', '1')}.tmp`, 'mine.tmp']);
});
