import { once } from 'node:events';
import { connect } from 'node:net';
import { startTestRedis } from '@holdpoint/embedded-redis/testing';
import { stateKey } from '@holdpoint/engine/testing';
import { noSecrets } from '@holdpoint/secrets/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { createLogger } from '../logger.ts';
import { problemOf, startTestApi, type TestApi } from '../testing/test-api.ts';
import { testWorker } from '../testing/test-worker.ts';

let api: TestApi;
const lines: string[] = [];
beforeAll(async () => {
  api = await startTestApi({
    logger: createLogger({ logLevel: 'info', secrets: noSecrets }, { write: (line) => void lines.push(line) }),
  });
});
afterAll(() => api.stop());
beforeEach(() => void lines.splice(0));

const plan = { groups: [{ steps: [{ tool: 'bash', args: { command: 'true' } }] }] };

/** What the server answers to bytes that may be no HTTP at all. */
async function raw(bytes: string): Promise<string> {
  const socket = connect(Number(new URL(api.address).port), '127.0.0.1').setEncoding('utf8');
  let text = '';
  socket.on('data', (chunk: string) => {
    text += chunk;
  });
  socket.write(bytes);
  await once(socket, 'close');
  return text;
}

describe('HEAD', () => {
  test('is answered as GET is, without a body', async () => {
    for (const path of ['/healthz', '/readyz', '/v1/runs', '/v1/me', '/openapi.json', '/v1/runs/run_x']) {
      const [head, get] = [await api.send(path, { method: 'HEAD' }), await api.send(path)];
      expect([path, head.status]).toEqual([path, get.status]);
      expect([path, head.headers.get('content-type')]).toEqual([path, get.headers.get('content-type')]);
      expect(await head.text()).toBe('');
      await get.text();
    }
    expect((await fetch(`${api.address}/v1/runs`, { method: 'HEAD' })).status).toBe(401);
  });

  test('of a stream ends at once', async () => {
    const headers = { accept: 'text/event-stream' };
    const response = await api.send('/v1/events', { method: 'HEAD', headers });
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
    expect(await response.text()).toBe('');
  });
});

describe('every refusal is a problem', () => {
  test('what is not there: 404', async () => {
    expect(await problemOf(await api.send('/v1/nope'))).toMatchObject({ code: 'not_found', instance: '/v1/nope' });
    expect(await problemOf(await api.send('/v1/runs/'))).toMatchObject({ status: 404 });
  });

  test.each(['run_x', 'run_00000000-0000-7000-8000-000000000000', 'x}:state', 'a'.repeat(101)])(
    'a run %s: 404',
    async (id) => {
      expect((await problemOf(await api.send(`/v1/runs/${encodeURIComponent(id)}`))).status).toBe(404);
    },
  );

  test('a step that is not there: 404', async () => {
    for (const path of ['/v1/steps/step_x', '/v1/steps/step_x/attempts']) {
      expect(await problemOf(await api.send(path))).toMatchObject({ code: 'step_not_found', status: 404 });
    }
  });

  test('another method: 405, with those that are taken', async () => {
    const response = await api.send('/v1/runs/run_x', { method: 'DELETE' });
    expect(response.headers.get('allow')).toBe('GET, HEAD');
    expect(await problemOf(response)).toMatchObject({ code: 'method_not_allowed', status: 405 });
    expect((await api.send('/v1/runs', { method: 'PUT' })).headers.get('allow')).toBe('POST, GET, HEAD');
  });

  test.each([
    ['half of an object', '{"plan":', 'malformed_json'],
    ['no JSON', 'plan: x', 'malformed_json'],
    ['a prototype', '{"__proto__": {"x": 1}}', 'malformed_json'],
  ])('a body with %s: 400', async (_name, body, code) => {
    expect(await problemOf(await api.post('/v1/runs', body))).toMatchObject({ code, status: 400 });
  });

  test.each([
    ['a list', '[]'],
    ['null', 'null'],
    ['a number', '7'],
    ['nothing in it', ''],
  ])('a body with %s: 422', async (_name, body) => {
    expect(await problemOf(await api.post('/v1/runs', body))).toMatchObject({ code: 'invalid_request', status: 422 });
  });

  test.each(['application/x-www-form-urlencoded', 'text/plain', 'text/plain; charset=utf-8'])(
    'a body of the type %s: 415',
    async (type) => {
      const response = await api.post('/v1/runs', '{"open":true}', { 'content-type': type });
      const next = expect.stringContaining('application/json');
      expect(await problemOf(response)).toMatchObject({ code: 'unsupported_media_type', status: 415, next });
    },
  );

  test.each([
    ['nothing', {}, 'missing: expected a number or a text'],
    ['a list', { from_step: [] }, 'expected a number or a text'],
    ['a number below 0', { from_step: -1 }, 'Too small: expected number to be >=0'],
  ])('a value of several types that is %s: 422, with what is expected', async (_name, body, detail) => {
    const problem = await problemOf(await api.post('/v1/runs/run_x/fork', body));
    expect(problem).toMatchObject({ status: 422, errors: [{ pointer: '/from_step', detail }] });
  });

  test('a parameter that a route does not know: 422', async () => {
    const problem = await problemOf(await api.send('/v1/me?verbose=1'));
    expect(problem).toMatchObject({ status: 422, errors: [{ pointer: 'verbose', detail: 'unknown field' }] });
  });

  test('a body of more than 32 MiB: 413', async () => {
    const response = await api.post('/v1/runs', { prompt: 'x'.repeat(32 * 1024 * 1024) });
    expect(await problemOf(response)).toMatchObject({ code: 'body_too_large', status: 413 });
  });

  test('a path that cannot be decoded: 400', async () => {
    expect(await problemOf(await api.send('/v1/runs/%zz'))).toMatchObject({ status: 400 });
  });

  test('what is no HTTP: 400', async () => {
    const answer = await raw('HELLO\r\n\r\n');
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '')).toMatchObject({ code: 'bad_request', status: 400 });
  });

  test('headers without end: 431', async () => {
    const answer = await raw(`GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ${'x'.repeat(100_000)}\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 431 /);
  });
});

describe('what fails inside', () => {
  test('is written to the log and not to the client', async () => {
    const { run } = await api.client.createRun({ plan });
    await api.engine.redis.hset(stateKey(run.id), 'turn', 'secret-of-the-house');
    const response = await api.send(`/v1/runs/${run.id}`);
    const problem = await problemOf(response);
    expect(problem).toMatchObject({ code: 'internal', status: 500, detail: 'something failed inside the server' });
    expect(JSON.stringify(problem)).not.toMatch(/zod|invalid_type|turn|secret/i);
    expect(response.headers.get('x-request-id')).toBe(problem.request_id);
    expect(lines.join('')).toContain(problem.request_id);
    expect(lines.join('')).toContain('invalid_type');
    await api.engine.redis.hset(stateKey(run.id), 'turn', '0');
  });

  test('no key reaches the log', async () => {
    await api.client.listRuns();
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.join('')).not.toContain(api.key);
    const logged: string[] = [];
    const logger = createLogger({ logLevel: 'info', secrets: noSecrets }, { write: (line) => void logged.push(line) });
    logger.info({
      headers: { authorization: 'hp_1' },
      req: { headers: { authorization: 'hp_2' } },
      authorization: 'hp_3',
    });
    expect(logged.join('')).not.toMatch(/hp_\d/);
  });
});

test('while Redis is away every request says so and when to come back; then all is well', async () => {
  const { run } = await api.client.createRun({ plan });
  const seen: string[] = [];
  const following = (async () => {
    for await (const { type } of api.client.events(run.id)) seen.push(type);
  })();
  await vi.waitFor(() => expect(seen).toEqual(['run.created']));
  await api.redis.stop();
  try {
    for (const path of [
      '/readyz',
      '/v1/runs',
      `/v1/runs/${run.id}`,
      `/v1/runs/${run.id}/events`,
      '/v1/approvals',
      '/v1/workers',
    ]) {
      const response = await api.send(path, { headers: { accept: 'text/event-stream' } });
      expect(response.headers.get('retry-after')).toBe('1');
      expect(await problemOf(response)).toMatchObject({ code: 'unavailable', status: 503 });
    }
    expect((await problemOf(await api.post('/v1/runs', { plan }))).code).toBe('unavailable');
    expect((await api.send('/healthz')).status).toBe(200);
    await expect(api.client.ready()).rejects.toMatchObject({ code: 'unavailable', retryable: true });
  } finally {
    api.redis = await startTestRedis(api.dataDir);
  }
  await vi.waitFor(async () => expect((await api.client.cancelRun(run.id)).status).toBe('canceling'), {
    timeout: 10_000,
  });
  await testWorker(api.engine, api.dataDir).plan(run.id);
  await following;
  expect(seen).toEqual(['run.created', 'run.canceling', 'run.canceled']);
});
