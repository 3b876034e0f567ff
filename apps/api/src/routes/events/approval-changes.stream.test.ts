import { type ApprovalChange, approvalChangeSchema, type RunEvent } from '@holdpoint/contract/wire';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApi, type TestApi } from '../../testing/test-api.ts';
import { type TestWorker, testWorker } from '../../testing/test-worker.ts';

let api: TestApi;
let worker: TestWorker;
beforeAll(async () => {
  api = await startTestApi({ heartbeatMs: 200, closeGraceMs: 300 });
  worker = testWorker(api.engine, api.dataDir);
});
afterAll(() => api.stop());

const policy = { rules: [{ match: { tool: 'write_file' }, action: 'hold' as const }] };
const write = (path: string) => ({ tool: 'write_file', args: { path, content: 'planted-text' } });

async function heldRun(): Promise<string> {
  const steps = [write('a'), write('b')];
  const { run } = await api.client.createRun({ plan: { groups: [{ on_error: 'continue', steps }] }, policy });
  await worker.drive(run.id);
  return run.id;
}

/** Calls that write run one after the other: the first is approved, the second rejected. */
async function decideAll(runId: string): Promise<void> {
  for (const decision of ['approve', 'reject'] as const) {
    const [approval] = (await api.client.listApprovals({ run_id: runId })).data;
    const { id = '', action_digest = '' } = approval ?? {};
    await api.client.decideApproval(id, { decision, action_digest });
    await worker.drive(runId);
  }
}

interface Frame {
  id: string;
  event: string;
  data: string;
}

/** The first frames of a stream: a connection that is cut behind each. Ends at the first sign of life without a frame. */
async function framesOf(key: string, lastId: string | undefined, most: number): Promise<Frame[]> {
  const gone = new AbortController();
  const response = await fetch(`${api.address}/v1/events`, {
    headers: {
      accept: 'text/event-stream',
      authorization: `Bearer ${key}`,
      ...(lastId !== undefined && { 'last-event-id': lastId }),
    },
    signal: gone.signal,
  });
  let text = '';
  const frames: Frame[] = [];
  for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += piece;
    const found = [...text.matchAll(/^id: (\d+)\nevent: (\S+)\ndata: (.*)\n\n/gm)];
    frames.splice(0, frames.length, ...found.map(([, id = '', event = '', data = '']) => ({ id, event, data })));
    if (frames.length >= most || text.includes('still here')) break;
  }
  gone.abort();
  return frames.slice(0, most);
}

const changesIn = (frames: readonly Frame[]): ApprovalChange[] =>
  frames
    .filter(({ event }) => event === 'approval.changed')
    .map(({ data }) => approvalChangeSchema.parse(JSON.parse(data)));

const place = ({ run_id, seq }: { run_id: string; seq: number }): string => `${run_id}:${seq}`;

async function logged(runId: string): Promise<RunEvent[]> {
  const { data } = await api.client.listEvents(runId, { limit: 1000 });
  return data.filter(({ type }) => type.startsWith('approval.'));
}

test('a client whose connection is cut behind every frame gets each event about an approval, in order', async () => {
  const opening = await fetch(`${api.address}/v1/events`, {
    headers: { accept: 'text/event-stream', authorization: `Bearer ${api.key}` },
  });
  const reader = opening.body?.pipeThrough(new TextDecoderStream()).getReader();
  const begin = ((await reader?.read())?.value ?? '').match(/^id: (\d+)/m)?.[1];
  await reader?.cancel();
  expect(begin).toBeDefined();

  const runs = [await heldRun(), await heldRun()];
  for (const run of runs) await decideAll(run);
  const events = (await Promise.all(runs.map(logged))).flat();
  const types = new Set(events.map(({ type }) => type));
  expect(types).toEqual(new Set(['approval.requested', 'approval.decided']));

  const whole = await framesOf(api.key, begin, Number.POSITIVE_INFINITY);
  expect(changesIn(whole).map(place)).toEqual(expect.arrayContaining(events.map(place)));
  for (let most = 1; most <= whole.length; most++) {
    const first = await framesOf(api.key, begin, most);
    const rest = await framesOf(api.key, first.at(-1)?.id, Number.POSITIVE_INFINITY);
    const seen = new Set(changesIn([...first, ...rest]).map(place));
    expect(events.map(place).filter((one) => !seen.has(one))).toEqual([]);
  }
  for (const run of runs) {
    const ofRun = changesIn(whole).filter(({ run_id }) => run_id === run);
    expect(ofRun.map(({ seq }) => seq)).toEqual(events.filter(({ run_id }) => run_id === run).map(({ seq }) => seq));
    expect(ofRun.filter(({ change }) => change === 'decided').map(({ by, decision }) => [by, decision])).toEqual([
      ['admin', 'approve'],
      ['admin', 'reject'],
    ]);
  }
  expect(JSON.stringify(whole)).not.toContain('planted-text');

  const { key } = await api.client.createKey({ name: 'reader', kind: 'service', scopes: ['runs:read'] });
  const theirs = await framesOf(key, begin, Number.POSITIVE_INFINITY);
  expect(theirs.map(({ event }) => event)).toContain('run.changed');
  expect(changesIn(theirs)).toEqual([]);
});

test('a client that stays gets each event once', async () => {
  const gone = new AbortController();
  const seen: ApprovalChange[] = [];
  const done = (async () => {
    for await (const { approval } of api.client.allChanges({ signal: gone.signal })) if (approval) seen.push(approval);
  })().catch(() => undefined);
  await expect.poll(() => api.engine.redis.pubsub('NUMPAT')).toBe(1);
  const run = await heldRun();
  const [held] = (await api.client.listApprovals({ run_id: run })).data;
  const asked = api.client.previewApproval(held?.id ?? '');
  const isAsked = async () => (await api.client.getApproval(held?.id ?? '')).preview_request !== null;
  await expect.poll(isAsked, { timeout: 60_000 }).toBe(true);
  await worker.show(run);
  expect((await asked).replaces).toBe(held?.id);
  await decideAll(run);
  const events = await logged(run);
  expect(events.map(({ type }) => type)).toContain('approval.preview_requested');
  await expect.poll(() => seen.filter(({ run_id }) => run_id === run).length).toBe(events.length);
  const ofRun = seen.filter(({ run_id }) => run_id === run);
  expect(ofRun.map(({ seq }) => seq)).toEqual(events.map(({ seq }) => seq));
  gone.abort();
  await done;
});
