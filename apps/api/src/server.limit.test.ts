import { once } from 'node:events';
import { connect } from 'node:net';
import { promisify } from 'node:util';
import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import { contentOf, problemOf, useTestApi } from './testing/test-api.ts';

const lines: string[] = [];
const logger = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) });
const api = useTestApi({ logger, mostConnections: 40, requestMs: 1500 });

describe('JSON of many levels', () => {
  const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
  const planWith = (levels: number) =>
    `{"plan":{"groups":[{"steps":[{"tool":"bash","args":{"command":${nested(levels)}}}]}]}}`;

  test.each([94, 2000, 5000, 1_000_000])('seven and %d of them are refused, and nothing is changed', async (levels) => {
    const before = await contentOf(api.engine);
    const problem = await problemOf(await api.post('/v1/runs', planWith(levels)));
    expect(problem).toMatchObject({ status: 422, code: 'json_too_deep' });
    expect(await contentOf(api.engine)).toEqual(before);
  });

  test('a hundred are judged by what they say', async () => {
    const problem = await problemOf(await api.post('/v1/runs', planWith(93)));
    expect(problem).toMatchObject({ status: 422, code: 'invalid_plan' });
  });
});

test.each([
  ['a title', { title: '\\ud800', plan: { groups: [] } }],
  ['a label', { labels: { k: 'a\\udfff' } }],
  ['a name', { labels: { '\\ud800': '' } }],
  ['an argument', { plan: { groups: [{ steps: [{ tool: 'bash', args: { command: 'echo \\udc00' } }] }] } }],
])('%s with half of a surrogate pair is refused, and nothing is changed', async (_, body) => {
  const before = await contentOf(api.engine);
  const text = JSON.stringify(body).replaceAll('\\\\u', '\\u');
  expect(await problemOf(await api.post('/v1/runs', text))).toMatchObject({
    ...{ status: 422, code: 'invalid_request' },
    detail: expect.stringContaining('lone surrogate'),
  });
  expect(await contentOf(api.engine)).toEqual(before);
});

test('a query does not get into the log', async () => {
  await (await api.send('/v1/runs?key=hp_secret-in-a-query')).text();
  await expect.poll(() => lines.join('')).toContain('"path":"/v1/runs"');
  expect(lines.join('')).not.toContain('hp_secret');
});

describe('what a browser may do with an answer', () => {
  test('data is no page', async () => {
    const { headers } = await api.send('/v1/runs');
    expect(headers.get('content-security-policy')).toBe("default-src 'none'; frame-ancestors 'none'");
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('x-frame-options')).toBe('DENY');
  });

  test('/docs runs its own scripts, talks to this server, and is framed by none', async () => {
    const response = await api.send('/docs/');
    const policy = response.headers.get('content-security-policy') ?? '';
    expect(policy).toMatch(/script-src 'self' 'sha256-[A-Za-z0-9+/]{43}='(;|$)/);
    expect(policy).toContain("connect-src 'self'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/script-src[^;]*unsafe/);
  });

  test('a refusal, too', async () => {
    const response = await fetch(`${api.address}/v1/runs`);
    expect(response.status).toBe(401);
    expect(response.headers.get('x-frame-options')).toBe('DENY');
  });
});

test('half-open connections are bounded in number and time, and the server answers again', async () => {
  const { port } = new URL(api.address);
  const half = async () => {
    const socket = connect({ port: Number(port), host: '127.0.0.1', allowHalfOpen: true }).on('error', () => {});
    await once(socket, 'connect');
    socket.write('GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ');
    return socket;
  };
  const held = () => promisify(api.running.app.server.getConnections.bind(api.running.app.server))();
  const open = await Promise.all(Array.from({ length: 60 }, half));
  expect(await held()).toBeLessThanOrEqual(40);
  await expect.poll(held, { timeout: 10_000 }).toBeLessThanOrEqual(2);
  expect((await api.send('/healthz')).status).toBe(200);
  for (const socket of open) socket.destroy();
});
