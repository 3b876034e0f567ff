import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { submitRun } from '../commands/submit-run.ts';
import { readLog } from '../log/index.ts';
import { readRecords, sealAll } from '../testing/audited.ts';
import { deliverAll, inMemoryWorker, specOf } from '../testing/index.ts';
import { useTestEngine } from '../testing/use-test-engine.ts';
import { recordEntry } from './audit-writer.ts';
import { readAuditState } from './pending-batch.ts';
import { auditDirOf, listSegments } from './segments.ts';

const engine = useTestEngine({ fresh: true });
let dataDir: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(engine.directory, 'data-'));
  return () => rm(dataDir, { recursive: true });
});

const seal = () => sealAll({ ...engine.deps, dataDir, redact: (text) => text });
const read = () => readAuditState({ redis: engine.deps.redis, dataDir });
async function run(): Promise<string> {
  const { deps } = inMemoryWorker(engine);
  const { runId } = await submitRun(deps, { spec: specOf([[{ args: { effect: 'read' } }]]), by: 'ada' });
  await deliverAll(deps);
  return runId;
}

test('reads the last record, and since when something waits for one', async () => {
  expect(await read()).toMatchObject({ head: { seq: 0 }, sealedAt: undefined, unsealedSince: undefined });
  const [first] = await readLog(engine.deps.redis, await run());
  expect(await read()).toMatchObject({ head: { seq: 0 }, unsealedSince: first?.time });
  await seal();
  const last = (await readRecords(dataDir)).at(-1);
  const { seq, hash, sealed_at } = last ?? {};
  expect(await read()).toEqual({ head: { seq, hash }, sealedAt: sealed_at, unsealedSince: undefined });
  const time = '2026-01-01T00:00:00.000Z';
  const by = { name: 'ada', kind: 'person' } as const;
  await recordEntry(engine.deps, { id: 'e1', time, by, subject: 'policy/default', action: 'changed' });
  expect(await read()).toMatchObject({ sealedAt: sealed_at, unsealedSince: time });
});

test.each([
  ['is gone', () => ''],
  ['was changed', (line: string) => line.replace('"tenant":"default"', '"tenant":"other"')],
])('notices that the last record %s', async (_, change) => {
  await run();
  await seal();
  const file = join(auditDirOf(dataDir), (await listSegments(dataDir)).at(-1) ?? '');
  const lines = (await readFile(file, 'utf8')).split(/(?<=\n)/);
  const last = lines.at(-1) ?? '';
  expect(change(last)).not.toBe(last);
  await writeFile(file, [...lines.slice(0, -1), change(last)].join(''));
  expect(await read()).toMatchObject({ head: { seq: lines.length }, sealedAt: undefined });
});
