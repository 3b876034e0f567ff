import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type AddressInfo, connect as connectSocket, createServer } from 'node:net';
import { createClient } from '@holdpoint/client';
import { type Run, type RunEvent, runEventSchema, runSchema } from '@holdpoint/contract/wire';
import { notificationChannel } from '@holdpoint/engine';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { problemOf, startTestApi, type TestApi } from '../../testing/test-api.ts';
import { type TestWorker, testWorker } from '../../testing/test-worker.ts';

let api: TestApi;
let worker: TestWorker;
const hour = 3_600_000;
/** Milliseconds by which the clock of the API is ahead of that of the engine. */
let ahead = 0;
beforeAll(async () => {
  api = await startTestApi({ heartbeatMs: 200, closeGraceMs: 300, now: () => Date.now() + ahead });
  worker = testWorker(api.engine, api.dataDir);
});
afterAll(() => api.stop());

const write = { tool: 'write_file', args: { path: 'a.txt', content: 'a' } };
const newRun = async (groups = 1): Promise<Run> => {
  const plan = { groups: Array.from({ length: groups }, () => ({ steps: [write] })) };
  return (await api.client.createRun({ plan })).run;
};
const listeners = async (runId: string): Promise<number> => {
  const [, count] = (await api.engine.redis.pubsub('NUMSUB', notificationChannel(runId))) as [string, number];
  return Number(count);
};
const collect = async (events: AsyncIterable<RunEvent>, into: RunEvent[] = []): Promise<RunEvent[]> => {
  for await (const event of events) into.push(event);
  return into;
};
const log = async (runId: string): Promise<RunEvent[]> => (await api.client.listEvents(runId, { limit: 1000 })).data;
const stream = (path: string, headers: Record<string, string> = {}, signal?: AbortSignal) =>
  api.send(path, { headers: { accept: 'text/event-stream', ...headers }, ...(signal ? { signal } : {}) });

/** An address without a listener. */
async function nowhere(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return `http://127.0.0.1:${port}`;
}

/** Reads a stream up to some text. */
async function readUntil(response: Response, wanted: RegExp): Promise<string> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  while (reader && !wanted.test(text)) {
    const { done, value } = await reader.read();
    if (done) break;
    text += value;
  }
  return text;
}

describe('a page of events', () => {
  test('names the next page', async () => {
    const run = await newRun();
    await worker.drive(run.id);
    const all = await log(run.id);
    const first = await api.client.listEvents(run.id, { limit: 3 });
    expect(first.data).toEqual(all.slice(0, 3));
    expect(first).toMatchObject({ has_more: true, next_cursor: '3' });
    const rest = await api.client.listEvents(run.id, { after: Number(first.next_cursor) });
    expect(rest).toEqual({ data: all.slice(3), has_more: false, next_cursor: null });
  });

  test('of no run is refused, as a page and as a stream', async () => {
    const path = '/v1/runs/run_00000000-0000-7000-8000-000000000000/events';
    expect(await problemOf(await api.send(path))).toMatchObject({ code: 'run_not_found', status: 404 });
    expect(await problemOf(await stream(path))).toMatchObject({ code: 'run_not_found', status: 404 });
  });
});

describe('a stream', () => {
  test('is server-sent events with the sequence number as id, and says when it ends', async () => {
    const run = await newRun();
    await worker.drive(run.id);
    const response = await stream(`/v1/runs/${run.id}/events`);
    expect(response.headers.get('content-type')).toMatch('text/event-stream');
    const frames = (await response.text()).split('\n\n').filter((frame) => frame.startsWith('id:'));
    const all = await log(run.id);
    expect(frames.map((frame) => frame.split('\n').slice(0, 2))).toEqual(
      all.map(({ seq, type }) => [`id: ${seq}`, `event: ${type}`]),
    );
    expect(frames.map((frame) => runEventSchema.parse(JSON.parse(frame.split('\ndata: ')[1] ?? '')))).toEqual(all);
  });

  test('ends with `end` where nothing more will come, even for one who has seen it all', async () => {
    const run = await newRun();
    await worker.drive(run.id);
    const last = (await log(run.id)).length;
    const text = await (await stream(`/v1/runs/${run.id}/events`, { 'last-event-id': String(last) })).text();
    expect(text).toContain(`event: end\ndata: {"seq":${last}}\n\n`);
    expect(text).not.toContain('id:');
  });

  test('continues after Last-Event-ID, which wins over ?after', async () => {
    const run = await newRun();
    await worker.drive(run.id);
    const ids = async (query: string, headers = {}) =>
      (await (await stream(`/v1/runs/${run.id}/events${query}`, headers)).text()).match(/^id: \d+$/gm);
    const all = (await log(run.id)).map(({ seq }) => `id: ${seq}`);
    expect(await ids('?after=2')).toEqual(all.slice(2));
    expect(await ids('?after=2', { 'last-event-id': '4' })).toEqual(all.slice(4));
  });

  test('refuses the id of an event that the run does not have', async () => {
    const run = await newRun();
    await worker.drive(run.id);
    const next = (await log(run.id)).length + 1;
    const problem = await problemOf(await stream(`/v1/runs/${run.id}/events`, { 'last-event-id': String(next) }));
    expect(problem).toMatchObject({ status: 422, errors: [{ pointer: 'Last-Event-ID' }] });
  });

  test('that is open sends each event when it is appended, once and in order', async () => {
    const run = await newRun(5);
    const seen: RunEvent[] = [];
    const done = collect(api.client.events(run.id), seen);
    await vi.waitFor(() => expect(seen).toHaveLength(1));
    await worker.drive(run.id);
    expect(await done).toEqual(await log(run.id));
  });

  test('misses nothing that is appended while it opens', async () => {
    const runs = await Promise.all(Array.from({ length: 10 }, () => newRun()));
    const [seen] = await Promise.all([
      Promise.all(runs.map((run) => collect(api.client.events(run.id)))),
      Promise.all(runs.map((run) => worker.drive(run.id))),
    ]);
    expect(seen).toEqual(await Promise.all(runs.map((run) => log(run.id))));
  });

  test('shows signs of life while nothing happens', async () => {
    const run = await newRun();
    const gone = new AbortController();
    const response = await stream(`/v1/runs/${run.id}/events`, {}, gone.signal);
    expect(await readUntil(response, /(: still here\n\n.*){2}/s)).toContain('event: run.created');
    gone.abort();
  });

  test('leaves nothing behind when its client goes away', async () => {
    const run = await newRun();
    const gone = new AbortController();
    const response = await stream(`/v1/runs/${run.id}/events`, {}, gone.signal);
    await readUntil(response, /run\.created/);
    expect(await listeners(run.id)).toBe(1);
    gone.abort();
    await vi.waitFor(async () => expect(await listeners(run.id)).toBe(0));
  });

  test('shares one subscription with others of the same run', async () => {
    const run = await newRun();
    const both = [collect(api.client.events(run.id)), collect(api.client.events(run.id))];
    await vi.waitFor(async () => expect(await listeners(run.id)).toBe(1));
    await worker.drive(run.id);
    const [one, other] = await Promise.all(both);
    expect(one).toEqual(other);
    await vi.waitFor(async () => expect(await listeners(run.id)).toBe(0));
  });

  test('stays open after the end of a run while a publication is under way', async () => {
    const run = await newRun();
    await worker.drive(run.id);
    const over = (await log(run.id)).length;
    const asked = api.client.discard(run.id);
    await vi.waitFor(async () => expect((await log(run.id)).length).toBe(over + 1));
    const seen: RunEvent[] = [];
    const done = collect(api.client.events(run.id, { after: over }), seen);
    await vi.waitFor(() => expect(seen.map(({ type }) => type)).toEqual(['workspace.discard_requested']));
    await worker.tend(run.id);
    await done;
    expect(seen.at(-1)?.type).toBe('workspace.discarded');
    expect((await asked).status).toBe('discarded');
  });

  test('waits for a client that does not read, and then sends it everything', async () => {
    const step = { tool: 'write_file', args: { path: 'a', content: 'x'.repeat(30_000) } };
    const group = { on_error: 'continue' as const, steps: Array.from({ length: 64 }, () => step) };
    const policy = { rules: [{ match: {}, action: 'deny' as const }] };
    const { run } = await api.client.createRun({
      plan: { groups: [group, group, group, group, group] },
      policy,
      labels: { size: 'large' },
    });
    await worker.drive(run.id);
    const total = (await api.client.getRun(run.id)).seq;
    const bytes = 5 * 64 * 30_000;

    const answers: ServerResponse[] = [];
    const keep = (_request: IncomingMessage, response: ServerResponse) => answers.push(response);
    api.running.app.server.on('request', keep);
    const socket = connectSocket({ port: Number(new URL(api.address).port), host: '127.0.0.1' });
    const headers = `Host: 127.0.0.1\r\nAuthorization: Bearer ${api.key}\r\nAccept: text/event-stream`;
    socket.pause().write(`GET /v1/runs/${run.id}/events HTTP/1.1\r\n${headers}\r\n\r\n`);
    const answer = await vi.waitFor(() => {
      const [first] = answers;
      if (!first?.writableNeedDrain) throw new Error('not full yet');
      return first;
    });
    api.running.app.server.off('request', keep);
    // A stream that kept reading would share its connection to Redis with these, in turn.
    for (let at = 0; at < 20; at++) await api.client.getRun(run.id);
    expect((answer.socket?.bytesWritten ?? 0) + answer.writableLength).toBeLessThan(bytes * 0.8);

    let text = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    const closed = once(socket, 'close');
    socket.resume();
    await closed;
    expect(text.match(/^id: \d+$/gm)).toHaveLength(total);
  });
});

describe('a connection that is lost', () => {
  test('by its client, which reads no more, does not keep the server from closing', async () => {
    const socket = connectSocket({ port: Number(new URL(api.address).port), host: '127.0.0.1' });
    const [run] = (await api.client.listRuns({ status: ['succeeded', 'failed'], label: 'size:large' })).data;
    const headers = `Host: 127.0.0.1\r\nAuthorization: Bearer ${api.key}\r\nAccept: text/event-stream`;
    socket.pause().write(`GET /v1/runs/${run?.id}/events HTTP/1.1\r\n${headers}\r\n\r\n`);
    await vi.waitFor(async () => expect(await listeners(run?.id ?? '')).toBe(1));
    await api.restart();
    socket.destroy();
    await api.client.health();
  });

  test('between the server and Redis loses no event', async () => {
    const run = await newRun(2);
    const seen: RunEvent[] = [];
    const done = collect(api.client.events(run.id), seen);
    await vi.waitFor(() => expect(seen).toHaveLength(1));
    await api.engine.redis.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
    await worker.drive(run.id);
    expect(await done).toEqual(await log(run.id));
  });

  test('to a server that is started again costs the client nothing', async () => {
    const run = await newRun(2);
    const seen: RunEvent[] = [];
    const done = collect(api.client.events(run.id), seen);
    await vi.waitFor(() => expect(seen).toHaveLength(1));
    await api.restart();
    await worker.drive(run.id);
    expect(await done).toEqual(await log(run.id));
  });

  test('to a server that is not there is an error that says what to do', async () => {
    const nobody = createClient({ baseUrl: await nowhere(), key: api.key });
    await expect(nobody.getRun('run_x')).rejects.toMatchObject({
      name: 'ConnectionError',
      message: expect.stringContaining('ECONNREFUSED'),
      next: expect.stringContaining('holdpoint up'),
    });
  });

  test('is not waited for by one who gives up', async () => {
    const gone = new AbortController();
    const nobody = createClient({ baseUrl: await nowhere(), key: api.key });
    const waiting = collect(nobody.events('run_x', { signal: gone.signal }));
    gone.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow();
  });
});

describe('waiting for a run', () => {
  test('answers with how it ended', async () => {
    const run = await newRun(2);
    const ended = api.client.waitForRun(run.id);
    await worker.drive(run.id);
    expect(await ended).toMatchObject({ id: run.id, status: 'succeeded', ended_at: expect.any(String) });
    expect((await api.client.waitForRun(run.id)).status).toBe('succeeded');
  });

  test('needs few requests, however many steps the run has', async () => {
    const scopes = ['runs:read', 'runs:write'] as const;
    const limits = { requests_per_s: 1, burst: 15 };
    const { key } = await api.client.createKey({ name: 'few', kind: 'person', scopes: [...scopes], limits });
    const client = createClient({ baseUrl: api.address, key });
    const run = await newRun(20);
    const ended = client.waitForRun(run.id);
    await worker.drive(run.id);
    expect((await ended).status).toBe('succeeded');
    await client.close();
  });

  test('may be for something else', async () => {
    const policy = { rules: [{ match: { tool: 'write_file' }, action: 'hold' as const }] };
    const { run } = await api.client.createRun({ plan: { groups: [{ steps: [write] }] }, policy });
    const held = api.client.waitForRun(run.id, { until: ({ pending_approvals }) => pending_approvals > 0 });
    await worker.drive(run.id);
    expect(await held).toMatchObject({ status: 'waiting', pending_approvals: 1 });
  });

  test('for what does not come answers when the run has ended', async () => {
    const run = await newRun();
    const never = api.client.waitForRun(run.id, { until: ({ status }) => status === 'paused' });
    await worker.drive(run.id);
    expect((await never).status).toBe('succeeded');
  });

  test('is given up with its signal', async () => {
    const run = await newRun();
    const gone = new AbortController();
    const waiting = api.client.waitForRun(run.id, { signal: gone.signal });
    await vi.waitFor(async () => expect(await listeners(run.id)).toBe(1));
    gone.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    await vi.waitFor(async () => expect(await listeners(run.id)).toBe(0));
  });
});

describe('a page of the events of all runs', () => {
  test('has every event once, run by run, whatever the size of a page', async () => {
    const runs = [await newRun(2), await newRun(), await newRun(3)];
    await Promise.all(runs.map((run) => worker.drive(run.id)));
    for (const limit of [40, 1000]) {
      const seen: RunEvent[] = [];
      let cursor: string | undefined;
      do {
        const page = await api.client.listAllEvents({ limit, cursor });
        expect(page.data.length).toBeLessThanOrEqual(limit);
        expect(page.has_more).toBe(page.next_cursor !== null);
        seen.push(...page.data);
        cursor = page.next_cursor ?? undefined;
      } while (cursor !== undefined);
      const ours = (id: string) => seen.filter(({ run_id }) => run_id === id);
      for (const { id } of runs) expect(ours(id)).toEqual(await log(id));
      expect(seen.map(({ run_id }) => run_id)).toEqual(seen.map(({ run_id }) => run_id).toSorted());
      expect(new Set(seen.map(({ id }) => id)).size).toBe(seen.length);
    }
  });

  test('begins at a time, also in the middle of a run', async () => {
    const run = await newRun(3);
    await worker.drive(run.id);
    const all = await log(run.id);
    const { time: since } = all[5] ?? fail();
    const page = await api.client.listAllEvents({ since, limit: 1000 });
    expect(page.data.filter(({ run_id }) => run_id === run.id)).toEqual(all.filter(({ time }) => time >= since));
    expect(page.data.filter(({ time }) => time < since)).toEqual([]);
    const later = await api.client.listAllEvents({ since: new Date(Date.parse(since) + 3_600_000).toISOString() });
    expect(later).toEqual({ data: [], has_more: false, next_cursor: null });
  });
});

const fail = (): never => {
  throw new Error('there are fewer events');
};

/** A client that follows all runs, from now on. */
async function followAll() {
  const gone = new AbortController();
  const seen: Run[] = [];
  const done = (async () => {
    for await (const run of api.client.changes({ signal: gone.signal })) seen.push(run);
  })().catch(() => undefined);
  await vi.waitFor(async () => expect(await api.engine.redis.pubsub('NUMPAT')).toBe(1));
  const stop = async (): Promise<void> => {
    gone.abort();
    await done;
  };
  return { seen, stop };
}

describe('the stream of all runs', () => {
  /** The id of the last frame, and the runs, of a stream that is read up to some text. */
  const readFrames = async (wanted: RegExp, headers: Record<string, string> = {}) => {
    const gone = new AbortController();
    const text = await readUntil(await stream('/v1/events', headers, gone.signal), wanted);
    gone.abort();
    const runs = [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => runSchema.parse(JSON.parse(data ?? '')));
    return { id: [...text.matchAll(/^id: (\d+)$/gm)].at(-1)?.[1] ?? '', runs };
  };

  test('that resumes begins with the runs that changed in between, and then continues', async () => {
    const { id } = await readFrames(/open/);
    const run = await newRun();
    await worker.drive(run.id);
    const { runs } = await readFrames(new RegExp(`"id":"${run.id}".*\n`), { 'last-event-id': id });
    expect(runs.find((one) => one.id === run.id)).toMatchObject({ status: 'succeeded' });
  });

  test('does not send again what has not changed for long', async () => {
    const old = await newRun();
    ahead = hour;
    const { id } = await readFrames(/open/);
    const { runs } = await readFrames(/still here/, { 'last-event-id': id });
    ahead = 0;
    expect(runs.map((one) => one.id)).not.toContain(old.id);
  });

  test('continues from an id of another API process, whose clock is ahead by less than a minute', async () => {
    ahead = 50_000;
    const { id } = await readFrames(/open/);
    ahead = 0;
    const run = await newRun();
    const { runs } = await readFrames(new RegExp(`"id":"${run.id}".*\n`), { 'last-event-id': id });
    expect(runs.map((one) => one.id)).toContain(run.id);
  });

  test('refuses an id that it never gave, or of a time to come', async () => {
    ahead = hour;
    const { id: later } = await readFrames(/open/);
    ahead = 0;
    for (const id of ['zzz', '-1', '1.5', later]) {
      const problem = await problemOf(await stream('/v1/events', { 'last-event-id': id }));
      expect(problem).toMatchObject({ status: 422, errors: [{ pointer: 'Last-Event-ID' }] });
    }
  });

  test('sends what changed while its server had lost Redis', async () => {
    const { seen, stop } = await followAll();
    const run = await newRun();
    await vi.waitFor(() => expect(seen.map(({ id }) => id)).toContain(run.id));
    seen.splice(0);
    await api.engine.redis.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
    await vi.waitFor(() => expect(seen.map(({ id }) => id)).toContain(run.id));
    await stop();
  });

  test('comes back after a restart of the server with what changed in between', async () => {
    const { seen, stop } = await followAll();
    const run = await newRun();
    await api.running.close();
    await worker.drive(run.id);
    await api.restart();
    await vi.waitFor(() => expect(seen.findLast(({ id }) => id === run.id)?.status).toBe('succeeded'));
    await stop();
  });

  test('sends each run whenever it changes', async () => {
    const { seen, stop } = await followAll();
    const runs = [await newRun(), await newRun()];
    await Promise.all(runs.map((run) => worker.drive(run.id)));
    await vi.waitFor(() => {
      for (const run of runs) expect(seen.filter(({ id }) => id === run.id).at(-1)?.status).toBe('succeeded');
    });
    await stop();
    await vi.waitFor(async () => expect(await api.engine.redis.pubsub('NUMPAT')).toBe(0));
  });
});
