import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type AuditFinding, type AuditRecord, passkeySubject } from '@holdpoint/contract';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { requestPublication } from '../commands/steer-run.ts';
import { submitRun } from '../commands/submit-run.ts';
import { newId } from '../domain/new-id.ts';
import { readRecords, sealAll } from '../testing/audited.ts';
import { decideOn, pendingApprovals } from '../testing/decide.ts';
import { deliverAll, inMemoryWorker, specOf, startTestEngine, type TestEngine } from '../testing/index.ts';
import { proveWith, testSite } from '../testing/prove-with.ts';
import { createTestPasskey } from '../testing/test-passkey.ts';
import { type AuditDeps, recordEntry } from './audit-writer.ts';
import { openAudit, verifyAudit } from './open-audit.ts';
import { sha256 } from './seal-run.ts';
import { verifyAssertions } from './verify-assertions.ts';
import { verifyExport } from './verify-export.ts';

/** Decisions of ann and bob by passkey: an approval, an edit, an answer with a message, two votes, and a publish. */
let engine: TestEngine;
let deps: AuditDeps;
let records: AuditRecord[];
const passkeys = { ann: createTestPasskey(testSite), bob: createTestPasskey(testSite) };
beforeAll(async () => {
  engine = await startTestEngine();
  const dataDir = await mkdtemp(join(engine.directory, 'data-'));
  deps = { ...engine.deps, dataDir, redact: (text) => text };
  for (const name of ['ann', 'bob'] as const) await register(name);
  await decided({}, [{ by: 'ann' }]);
  await decided({}, [{ by: 'ann', decision: 'edit', args: { effect: 'workspace', other: 1 } }]);
  await decided({}, [{ by: 'bob', decision: 'respond', message: 'It was done by hand.\u2028'.repeat(200) }]);
  await decided({ deciders: { quorum: 2 } }, [{ by: 'ann', message: 'fine' }, { by: 'bob' }]);
  await published();
  await sealAll(deps);
  records = await readRecords(dataDir);
});
afterAll(() => engine.stop());

async function register(name: keyof typeof passkeys, action = 'registered', time = Date.now()) {
  const { id: credential_id, publicKey: public_key } = passkeys[name];
  const detail = { person: name, credential_id, public_key, rp_id: testSite.rpId };
  const entry = { id: crypto.randomUUID(), time: new Date(time).toISOString(), by: { name }, action, detail };
  await recordEntry(engine.deps, { ...entry, subject: passkeySubject(`psk_${name}`) });
}

type Decision = Parameters<typeof decideOn>[2] & { by: keyof typeof passkeys };

async function decided(terms: object, decisions: Decision[]): Promise<void> {
  const worker = inMemoryWorker(engine);
  const policy = { rules: [{ match: {}, action: 'hold' as const, confirm: 'passkey' as const, ...terms }] };
  const spec = specOf([[{ args: { effect: 'workspace' } }]], { policy });
  const { runId } = await submitRun(worker.deps, { spec, by: 'eve', kind: 'person' });
  await deliverAll(worker.deps);
  const [view] = await pendingApprovals(worker.deps, runId);
  for (const request of decisions) {
    await decideOn(worker.deps, view, { ...request, confirm: proveWith(passkeys[request.by]) });
  }
  await deliverAll(worker.deps);
}

/** A publish whose conflict is settled, and which is then approved. */
async function published(): Promise<void> {
  const worker = inMemoryWorker(engine, { conflict: true });
  const spec = specOf([[{ args: { effect: 'workspace' } }]], { policy: { publish: 'passkey' } });
  const { runId } = await submitRun(worker.deps, { spec, by: 'eve', kind: 'person' });
  await deliverAll(worker.deps);
  await requestPublication(worker.deps, runId, { by: 'eve', message: 'm' });
  const settled = { decision: 'edit' as const, args: { resolutions: [{ path: 'a', take: 'run', seen: null }] } };
  for (const request of [settled, { message: 'as planned' }]) {
    await deliverAll(worker.deps);
    const [view] = await pendingApprovals(worker.deps, runId);
    await decideOn(worker.deps, view, { ...request, confirm: proveWith(passkeys.ann) });
  }
  await deliverAll(worker.deps);
}

/** As a forger writes them who can compute the hashes: each line is sound. */
const resealed = (all: readonly object[]) =>
  all.map((record) => {
    const { hash: _, ...rest } = record as AuditRecord;
    const text = JSON.stringify(rest);
    return { bytes: Buffer.from(`${text.slice(0, -1)},"hash":"${sha256(text)}"}`) };
  });

async function findingsIn(all: readonly object[], isFromStart = true): Promise<AuditFinding[]> {
  const findings: AuditFinding[] = [];
  async function* lines() {
    yield* resealed(all);
  }
  await verifyAssertions({ lines: lines(), report: (one) => findings.push(one), isFromStart });
  return findings;
}

/** The decisions, and where each holds an assertion. */
const proved = () =>
  records.flatMap((record, index) => {
    if (record.kind !== 'approval' || record.event !== 'approval.decided') return [];
    return record.votes === undefined
      ? [{ index, path: [] }]
      : record.votes.map((_, at) => ({ index, path: ['votes', at] }));
  });

type Fields = Record<string | number, unknown>;
/** A copy in which one place of a decision is another. */
function changed({ index, path }: ReturnType<typeof proved>[number], change: (own: Fields, record: Fields) => void) {
  const copy = structuredClone(records) as unknown as Fields[];
  const record = copy[index] ?? {};
  change(
    path.reduce<Fields>((inner, name) => inner[name] as Fields, record),
    record,
  );
  return copy;
}

test('finds nothing in what was decided, in the data directory and in an export', async () => {
  expect(proved()).toHaveLength(7);
  expect(await verifyAudit(deps)).toMatchObject({ ok: true, findings: [] });
  expect(await findingsIn(records)).toEqual([]);
  const file = join(engine.directory, 'export.jsonl');
  await writeFile(file, await exported());
  expect(await verifyExport(file)).toMatchObject({ ok: true, records: records.length, gaps: 0 });
  const head = { seq: records.length, hash: records.at(-1)?.hash ?? '' };
  expect(await verifyExport(file, { kept: head })).toMatchObject({ ok: true });
  expect(await verifyExport(file, { kept: { ...head, hash: '0'.repeat(64) } })).toMatchObject({ ok: false });
});

const exported = async (): Promise<string> =>
  (await Array.fromAsync(openAudit(deps).lines({}))).map((line) => `${line}\n`).join('');

const fields = [
  ...(['nonce', 'person', 'credential_id', 'public_key', 'rp_id', 'origin'] as const),
  ...(['authenticator_data', 'client_data_json', 'signature'] as const),
];

test('finds any flipped bit of an assertion, also when the hash of its record fits', async () => {
  const places = proved();
  const place = fc.record({
    of: fc.constantFrom(...places),
    field: fc.constantFrom(...fields),
    at: fc.nat({ max: 10_000 }),
    bit: fc.nat({ max: 5 }),
  });
  await fc.assert(
    fc.asyncProperty(place, async ({ of, field, at, bit }) => {
      const copy = changed(of, (own) => {
        const assertion = own.assertion as Fields;
        assertion[field] = flipped(String(assertion[field]), at, bit);
      });
      expect(await findingsIn(copy)).toMatchObject([{ code: 'assertion_invalid', record: of.index + 1 }]);
    }),
    { numRuns: 60 },
  );
});

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
/** One bit of one character, as base64url has it. */
function flipped(text: string, at: number, bit: number): string {
  const place = at % text.length;
  const other = alphabet[(alphabet.indexOf(text[place] ?? '') & 63) ^ (1 << bit)] ?? 'A';
  return text.slice(0, place) + (other === text[place] ? '_' : other) + text.slice(place + 1);
}

test('finds a decision that is not what was signed, and one without a proof', async () => {
  const changes: Record<string, (own: Fields, record: Fields) => void> = {
    approval: (_, record) => Object.assign(record, { approval_id: newId('approval') }),
    call: (_, record) => Object.assign(record, { action_digest: `sha256:${'0'.repeat(64)}` }),
    decision: (_, record) => Object.assign(record, { decision: record.decision === 'approve' ? 'respond' : 'approve' }),
    tenant: (_, record) => Object.assign(record, { tenant: 'other' }),
    message: (own) => Object.assign(own, { message_digest: `sha256:${'0'.repeat(64)}` }),
    caller: (own) => Object.assign(own, 'name' in own ? { name: 'eve' } : { decided_by: { name: 'eve' } }),
  };
  for (const of of proved()) {
    for (const [what, change] of Object.entries(changes)) {
      const found = await findingsIn(changed(of, change));
      expect([what, found.map(({ record }) => record)], JSON.stringify(found)).toEqual([
        what,
        expect.arrayContaining([of.index + 1]),
      ]);
    }
    const found = await findingsIn(changed(of, (own) => void Reflect.deleteProperty(own, 'assertion')));
    expect(found).toMatchObject([{ code: 'assertion_missing', record: of.index + 1 }]);
  }
});

test('finds a decision made unreadable', async () => {
  const [first] = proved();
  const copy = changed(first ?? { index: 0, path: [] }, (_, record) => Object.assign(record, { approval_id: 'none' }));
  expect(await findingsIn(copy)).toMatchObject([{ code: 'assertion_invalid' }]);
});

test('finds other arguments of an edit', async () => {
  const edit = proved().find(({ index }) => (records[index] as { decision?: string }).decision === 'edit');
  if (edit === undefined) throw new Error('no edit');
  const copy = changed(edit, (_, record) => {
    record.args = { ...(record.args as Fields), digest: `sha256:${'0'.repeat(64)}` };
  });
  expect(await findingsIn(copy)).toMatchObject([{ code: 'assertion_invalid' }]);
});

test('finds a proof moved from one decision to another', async () => {
  const [first, second] = proved();
  if (first === undefined || second === undefined) throw new Error('too few decisions');
  const { assertion } = records[first.index] as { assertion?: unknown };
  expect(await findingsIn(changed(second, (own) => Object.assign(own, { assertion })))).toMatchObject([
    { code: 'assertion_invalid', record: second.index + 1 },
  ]);
});

test('finds a passkey that was never registered, or that was revoked before', async () => {
  const without = records.filter((record) => record.kind !== 'change' || record.subject !== passkeySubject('psk_bob'));
  const found = await findingsIn(without);
  expect(found.map(({ code }) => code)).toEqual(['assertion_invalid', 'assertion_invalid']);
  expect(found[0]?.message).toContain('never registered');
  // An export of later records cannot know.
  expect(await findingsIn(without, false)).toEqual([]);
  const revoked = records.map((record) =>
    record.kind === 'change' ? [record, { ...record, action: 'revoked', time: '2020-01-01T00:00:00.000Z' }] : [record],
  );
  expect((await findingsIn(revoked.flat())).every(({ message }) => message.includes('revoked before'))).toBe(true);
  expect(await findingsIn(revoked.flat())).toHaveLength(proved().length);
});

test('finds each flipped byte of an export', async () => {
  const text = Buffer.from(await exported());
  const file = join(engine.directory, 'flipped.jsonl');
  await fc.assert(
    fc.asyncProperty(fc.nat({ max: text.byteLength - 2 }), fc.integer({ min: 1, max: 255 }), async (at, by) => {
      const bytes = Buffer.from(text);
      bytes[at] = (bytes[at] ?? 0) ^ by;
      await writeFile(file, bytes);
      expect((await verifyExport(file)).ok).toBe(false);
    }),
    { numRuns: 100 },
  );
});
