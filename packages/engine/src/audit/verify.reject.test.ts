import { cp, mkdtemp, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { submitRun } from '../commands/submit-run.ts';
import { auditHeadKey, logKey, runIndex, stateKey } from '../log/keys.ts';
import { readRecords, sealAll } from '../testing/audited.ts';
import { deliverAll, inMemoryWorker, specOf, startTestEngine, type TestEngine } from '../testing/index.ts';
import { copyOf } from '../testing/lagging-copy.ts';
import type { AuditDeps } from './audit-writer.ts';
import { verifyAudit } from './open-audit.ts';
import { listSegments } from './segments.ts';

/** Two ended runs and a run waiting for a decision, in two files. */
let engine: TestEngine;
let deps: AuditDeps;
let sound: string;
let runs: string[];
let redisCopy: Awaited<ReturnType<typeof copyOf>>;
beforeAll(async () => {
  engine = await startTestEngine();
  sound = await mkdtemp(join(engine.directory, 'data-'));
  deps = { ...engine.deps, dataDir: sound, redact: (text) => text, segmentBytes: 4000 };
  const worker = inMemoryWorker(engine);
  const read = { args: { effect: 'read' } };
  const write = { args: { effect: 'workspace' } };
  const policy = { rules: [{ match: { effect: 'workspace' as const }, action: 'hold' as const }] };
  runs = [];
  for (const groups of [[[read, read], [read]], [[read]], [[read], [write]]]) {
    const { runId } = await submitRun(worker.deps, { spec: specOf(groups, { policy }), by: 'ada' });
    runs.push(runId);
    await deliverAll(worker.deps);
    await sealAll(deps);
  }
  redisCopy = await copyOf(engine.deps.redis);
});
afterAll(() => engine.stop());

/** Runs a change on a copy of the files, and puts Redis back afterwards. */
async function after(change: (dataDir: string) => Promise<unknown>) {
  const dataDir = await mkdtemp(join(engine.directory, 'changed-'));
  await cp(sound, dataDir, { recursive: true });
  try {
    await change(dataDir);
    return await verifyAudit({ ...deps, dataDir });
  } finally {
    await redisCopy.restore();
    await rm(dataDir, { recursive: true });
  }
}

const fileAt = async (dataDir: string, index: number) => {
  const files = await listSegments(dataDir);
  return join(dataDir, 'audit', files[index % files.length] ?? '');
};

async function linesOf(file: string): Promise<string[]> {
  return (await readFile(file, 'utf8')).split('\n').slice(0, -1);
}
const writeLines = (file: string, lines: string[]) => writeFile(file, lines.map((line) => `${line}\n`).join(''));

test('finds nothing in what was only sealed', async () => {
  const report = await after(async () => {});
  expect(report).toMatchObject({ ok: true, findings: [], runs: 3, removed: [] });
  expect((await listSegments(sound)).length).toBeGreaterThan(1);
  expect(report.records).toBe((await readRecords(sound)).length);
});

const place = fc.nat({ max: 10_000 });

test('finds any single change of the files', async () => {
  const changes = fc.oneof(
    fc.record({ kind: fc.constantFrom('drop', 'duplicate', 'swap', 'cut', 'move'), file: place, at: place }),
    fc.record({
      kind: fc.constant('byte'),
      file: place,
      at: fc.nat({ max: 1_000_000 }),
      by: fc.integer({ min: 1, max: 255 }),
    }),
    fc.record({ kind: fc.constant('remove'), file: place }),
  );
  await fc.assert(
    fc.asyncProperty(changes, async (change) => {
      const report = await after((dataDir) => changeFile(dataDir, change));
      expect(report.ok).toBe(false);
      expect(report.findings[0]?.message).toMatch(/record|line/);
    }),
    { numRuns: 150 },
  );
});

async function changeFile(
  dataDir: string,
  { kind, file: index, ...more }: { kind: string; file: number; at?: number; by?: number },
) {
  const file = await fileAt(dataDir, index);
  const bytes = await readFile(file);
  const lines = await linesOf(file);
  const at = (more.at ?? 0) % lines.length;
  switch (kind) {
    case 'byte': {
      const position = (more.at ?? 0) % bytes.byteLength;
      bytes[position] = ((bytes[position] ?? 0) + (more.by ?? 1)) % 256;
      return writeFile(file, bytes);
    }
    case 'drop':
      return writeLines(file, lines.toSpliced(at, 1));
    case 'duplicate':
      return writeLines(file, lines.toSpliced(at, 0, lines[at] ?? ''));
    case 'swap': {
      const other = (at + 1) % lines.length;
      // A file with one line gets the line twice.
      if (other === at) return writeLines(file, [...lines, ...lines]);
      return writeLines(file, lines.with(at, lines[other] ?? '').with(other, lines[at] ?? ''));
    }
    case 'cut':
      return truncate(file, (more.at ?? 0) % bytes.byteLength);
    case 'move':
      return rename(file, file.replace('.jsonl', '-7.old'));
    default:
      return rm(file);
  }
}

test('finds any single change of the log of a run, and names the event', async () => {
  const changes = fc.record({
    run: fc.nat({ max: 2 }),
    kind: fc.constantFrom('drop', 'change', 'swap', 'insert', 'append', 'field', 'cut'),
    at: place,
    by: fc.integer({ min: 1, max: 255 }),
  });
  await fc.assert(
    fc.asyncProperty(changes, async ({ run, kind, at, by }) => {
      const runId = runs[run] ?? '';
      let touched: string[] = [];
      const report = await after(async () => {
        touched = await changeLog(runId, { kind, at, by });
      });
      expect(report.ok).toBe(false);
      for (const finding of report.findings) expect(finding.run_id).toBe(runId);
      const named = report.findings.flatMap(({ events = [] }) => events);
      if (['drop', 'change', 'insert'].includes(kind)) expect(named).toEqual(expect.arrayContaining(touched));
    }),
    { numRuns: 150 },
  );
});

/** @returns the ids of the changed events */
async function changeLog(runId: string, { kind, at, by }: { kind: string; at: number; by: number }): Promise<string[]> {
  const { redis } = engine.deps;
  const key = logKey(runId);
  // The last event of a log may not be sealed yet.
  const all = await redis.xrangeBuffer(key, '-', '+');
  const entries = all.map(([id, fields]) => ({ id: id.toString(), fields }));
  const sealed = (await readRecords(sound)).reduce(
    (to, { log }) => (log?.run_id === runId ? Math.max(to, log.to) : to),
    0,
  );
  const index = at % sealed;
  const { id = '', fields = [] } = entries[index] ?? {};
  const text = Buffer.from(fields[1] ?? '');
  if (kind === 'drop') {
    await redis.xdel(key, id);
    return [id];
  }
  if (kind === 'change') {
    const position = at % text.byteLength;
    text[position] = ((text[position] ?? 0) + by) % 256;
    entries[index] = { id, fields: [Buffer.from('e'), text] };
  }
  if (kind === 'swap') {
    const other = (index + 1) % sealed;
    const one = entries[other];
    if (one === undefined) throw new Error('the log has one event');
    entries[index] = { id, fields: one.fields };
    entries[other] = { id: one.id, fields };
  }
  const between = index === 0 ? '0-1' : `${index}-1`;
  if (kind === 'insert') entries.splice(index, 0, { id: between, fields });
  if (kind === 'append') entries.push({ id: `${entries.length + 1}-0`, fields });
  if (kind === 'field') entries[index] = { id, fields: [...fields, Buffer.from('x'), Buffer.from('')] };
  if (kind === 'cut') entries.length = index;
  await redis.del(key);
  for (const entry of entries) await redis.xadd(key, entry.id, ...entry.fields);
  return [kind === 'insert' ? between : id];
}

test('names the removed records, also when the end of the files and a file are gone', async () => {
  const total = (await readRecords(sound)).length;
  const report = await after(async (dataDir) => rm(await fileAt(dataDir, (await listSegments(dataDir)).length - 1)));
  expect(report.findings).toMatchObject([
    { code: 'record_missing', message: expect.stringMatching(new RegExp(`${total} (is|are) missing`)) },
  ]);
});

test('finds a chain that was made again, by a head that was kept elsewhere', async () => {
  const { head } = await verifyAudit(deps);
  const report = await after(async (dataDir) => {
    await rm(join(dataDir, 'audit'), { recursive: true });
    await engine.deps.redis.del(auditHeadKey, 'hp:{audit}:cursors');
    await sealAll({ ...deps, dataDir, now: () => Date.now() + 1000 });
    expect(await verifyAudit({ ...deps, dataDir })).toMatchObject({ ok: true });
    expect(await verifyAudit({ ...deps, dataDir, kept: head })).toMatchObject({
      ok: false,
      findings: [{ code: 'head_changed', record: head.seq }],
    });
  });
  expect(report.ok).toBe(true);
  expect((await verifyAudit({ ...deps, kept: head })).ok).toBe(true);
});

test('reports the log of a removed run with its digest, and passes', async () => {
  const [runId = ''] = runs;
  const report = await after(async () => {
    await engine.deps.redis.del(logKey(runId), stateKey(runId));
    await engine.deps.redis.zrem(runIndex, runId);
  });
  expect(report).toMatchObject({ ok: true, removed_total: 1, removed: [{ run_id: runId }] });
  expect(report.removed[0]?.digest).toMatch(/^[0-9a-f]{64}$/);
});

test('finds a log that is gone while its state is there', async () => {
  const [runId = ''] = runs;
  const report = await after(() => engine.deps.redis.del(logKey(runId)));
  expect(report).toMatchObject({ ok: false, findings: [{ code: 'event_missing', run_id: runId }] });
});
