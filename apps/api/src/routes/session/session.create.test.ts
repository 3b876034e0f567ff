import type { Scope } from '@holdpoint/contract';
import { type CreateKey, meSchema, sessionListSchema } from '@holdpoint/contract/wire';
import { startTestRedis } from '@holdpoint/embedded-redis/testing';
import { sealAll } from '@holdpoint/engine/testing';
import { noSecrets } from '@holdpoint/secrets/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLogger } from '../../logger.ts';
import { logInWith, openBrowser } from '../../testing/browser.ts';
import { problemOf, startTestApi, type TestApi } from '../../testing/test-api.ts';

let api: TestApi;
const log: string[] = [];
beforeAll(async () => {
  const logger = createLogger({ logLevel: 'trace', secrets: noSecrets }, { write: (line) => void log.push(line) });
  api = await startTestApi({ logger, heartbeatMs: 50 });
});
afterAll(() => api.stop());

let names = 0;
const made = (changes: Partial<CreateKey> = {}) => {
  names += 1;
  const scopes: Scope[] = ['runs:read', 'keys:admin'];
  return api.client.createKey({ name: `person ${names}`, kind: 'person', scopes, ...changes });
};
const statusOf = async (response: Promise<Response>): Promise<number> => {
  const { status, body } = await response;
  await body?.cancel();
  return status;
};
async function changesIn(): Promise<string> {
  await sealAll({ ...api.engine, dataDir: api.dataDir, redact: (text) => text });
  const { data } = await api.client.listAudit({ limit: 200 });
  return JSON.stringify(data.filter(({ kind }) => kind === 'change'));
}
const keyOf = (session: string): string => `hp:{keys}:session:${session}`;
const sessionsOf = async (key: string) => {
  const response = await fetch(`${api.address}/v1/sessions`, { headers: { authorization: `Bearer ${key}` } });
  return sessionListSchema.parse(await response.json()).data;
};

describe('a login', () => {
  test('sets a cookie that no script reads, and has the caller of its key', async () => {
    const { key, name } = await made();
    const browser = openBrowser(api);
    const response = await browser.post('/v1/session', { key });
    expect([response.status, await response.text()]).toEqual([204, '']);
    expect(response.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^holdpoint_session=hps_[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=604800$/),
    ]);
    const me = meSchema.parse(await (await browser.send('/v1/me')).json());
    expect(me).toMatchObject({ name, scopes: ['runs:read', 'keys:admin'] });
    const [session] = sessionListSchema.parse(await (await browser.send('/v1/sessions')).json()).data;
    expect(session).toMatchObject({ id: expect.stringMatching(/^ses_/), current: true });
    expect(await sessionsOf(key)).toMatchObject([{ id: session?.id, current: false }]);
  });

  test('behind https has a cookie for https alone', async () => {
    const { hostname, port } = new URL(api.address);
    const response = await fetch(`${api.address}/v1/session`, {
      ...{ method: 'POST', body: JSON.stringify({ key: api.key }) },
      headers: { 'content-type': 'application/json', origin: `https://${hostname}:${port}` },
    });
    expect(response.headers.getSetCookie()[0]).toMatch(/; Secure$/);
  });

  test('leaves no key, token or code in the log, in Redis or in the audit log', async () => {
    const { key } = await made();
    const { code } = await api.client.createLoginCode();
    const browser = await logInWith(api, key);
    await browser.send('/v1/me');
    const other = openBrowser(api);
    await other.post('/v1/session/exchange', { code });
    await other.post('/v1/session/exchange', { code });
    await other.post('/v1/session', { key: `${key}x` });
    await other.post('/v1/session', { key, other: 1 });
    await other.post('/v1/session', { key: [key] });
    const { redis } = api.engine;
    const names = await redis.keys('*');
    const dumps = await Promise.all(
      names.map(async (name) => `${name} ${await redis.dumpBuffer(name).then((all) => all?.toString('latin1'))}`),
    );
    const audit = await changesIn();
    const everything = [...log, ...dumps, audit].join('\n');
    expect(everything).toContain('/v1/session/exchange');
    for (const secret of [key, code, browser.cookie.split('=')[1] ?? '', other.cookie.split('=')[1] ?? '']) {
      expect(secret.length).toBeGreaterThan(40);
      expect(everything.includes(secret)).toBe(false);
      expect(everything.includes(secret.slice(4, 44))).toBe(false);
    }
  });

  test('is in the audit log, with how', async () => {
    const { key, id } = await made();
    const browser = await logInWith(api, key);
    const [session] = await sessionsOf(key);
    await browser.send('/v1/session', { method: 'DELETE' });
    const audit = await changesIn();
    expect(audit).toContain(`session/${session?.id}`);
    expect(audit).toContain(`{\\"key\\":\\"${id}\\",\\"by\\":\\"key\\"}`);
    expect(audit).toContain('"action":"ended"');
  });

  test.each(['hp_nothing', '', 'hp_'.padEnd(46, 'A'), 'Bearer x'])('with the key %j is refused', async (key) => {
    const browser = openBrowser(api);
    const response = await browser.post('/v1/session', { key });
    expect(response.headers.getSetCookie()).toEqual([]);
    expect(await problemOf(response)).toMatchObject({ status: 401, code: 'unauthorized' });
  });

  test('counts for the rate of its key', async () => {
    const { key } = await made({ limits: { requests_per_s: 1, burst: 3 } });
    const all = await Promise.all(Array.from({ length: 30 }, () => openBrowser(api).post('/v1/session', { key })));
    // More are let through only while time passes.
    expect(new Set(all.map(({ status }) => status))).toEqual(new Set([204, 429]));
  });

  test('never takes a token that the client chose, and ends the session before', async () => {
    const { key } = await made();
    const browser = openBrowser(api);
    const chosen = `holdpoint_session=hps_${'A'.repeat(43)}`;
    browser.cookie = chosen;
    expect(await statusOf(browser.send('/v1/me'))).toBe(401);
    await browser.post('/v1/session', { key });
    expect(browser.cookie).not.toBe(chosen);
    const before = openBrowser(api);
    before.cookie = browser.cookie;
    await browser.post('/v1/session', { key });
    expect(await statusOf(before.send('/v1/me'))).toBe(401);
    expect(await statusOf(browser.send('/v1/me'))).toBe(200);
    expect(await sessionsOf(key)).toHaveLength(1);
  });

  test('beyond a hundred of a key ends the oldest', async () => {
    const { key } = await made({ limits: { requests_per_s: null, burst: null } });
    const first = await logInWith(api, key);
    const second = await logInWith(api, key);
    for (let count = 2; count <= 100; count += 1) await logInWith(api, key);
    expect(await sessionsOf(key)).toHaveLength(100);
    expect(await statusOf(first.send('/v1/me'))).toBe(401);
    expect(await statusOf(second.send('/v1/me'))).toBe(200);
  });
});

describe('the end of all sessions', () => {
  test('leaves the session of the request alone, and no other key loses any', async () => {
    const [mine, other] = [await made(), await made()];
    const browsers = await Promise.all([1, 2, 3].map(() => logInWith(api, mine.key)));
    const stranger = await logInWith(api, other.key);
    const ids = (await sessionsOf(mine.key)).map(({ id }) => `session/${id}`);
    const [own, ...rest] = browsers;
    const origin = api.address;
    const end = await own?.send('/v1/sessions', { method: 'DELETE', headers: { origin } });
    expect(await end?.json()).toEqual({ ended: 2 });
    expect(await statusOf(own?.send('/v1/me') ?? Promise.reject())).toBe(200);
    for (const each of rest) expect(await statusOf(each.send('/v1/me'))).toBe(401);
    expect(await statusOf(stranger.send('/v1/me'))).toBe(200);
    const withKey = { method: 'DELETE', headers: { authorization: `Bearer ${mine.key}` } };
    expect(await (await fetch(`${api.address}/v1/sessions`, withKey)).json()).toEqual({ ended: 1 });
    expect(await sessionsOf(mine.key)).toEqual([]);
    const changes = JSON.parse(await changesIn()) as { subject: string; action: string }[];
    const ended = changes.flatMap(({ subject, action }) => (action === 'ended' ? [subject] : []));
    expect(ended.filter((subject) => ids.includes(subject)).toSorted()).toEqual(ids.toSorted());
  });
});

describe('a link', () => {
  test('logs in once, whatever 50 browsers do at the same moment', async () => {
    for (let round = 0; round < 5; round += 1) {
      const asked = Date.now();
      const { code, expires_at } = await api.client.createLoginCode();
      expect(Date.parse(expires_at)).toBeGreaterThanOrEqual(asked + 60_000);
      expect(Date.parse(expires_at)).toBeLessThanOrEqual(Date.now() + 60_000);
      const all = await Promise.all(
        Array.from({ length: 50 }, () => openBrowser(api).post('/v1/session/exchange', { code })),
      );
      expect(all.filter(({ status }) => status === 204)).toHaveLength(1);
      const refused = all.find(({ status }) => status !== 204);
      expect(refused && (await problemOf(refused))).toMatchObject({ status: 401, code: 'code_refused' });
    }
  });

  test('is bound to the key that made it', async () => {
    const { key, id, name } = await made();
    const codes = await Promise.all(
      [1, 2].map(async () => {
        const headers = { authorization: `Bearer ${key}` };
        const response = await fetch(`${api.address}/v1/session/code`, { method: 'POST', headers });
        return ((await response.json()) as { code: string }).code;
      }),
    );
    const browser = openBrowser(api);
    await browser.post('/v1/session/exchange', { code: codes[0] });
    expect(await (await browser.send('/v1/me')).json()).toMatchObject({ name, key_id: id });
    await api.client.revokeKey(id);
    expect(await statusOf(openBrowser(api).post('/v1/session/exchange', { code: codes[1] }))).toBe(401);
  });

  test('comes from a key alone: a session cannot prolong itself', async () => {
    const browser = await logInWith(api, api.key);
    expect(await problemOf(await browser.post('/v1/session/code', {}))).toMatchObject({
      status: 403,
      code: 'key_required',
    });
  });

  test('ends after a minute, also when the clock is set back', async () => {
    const { redis } = api.engine;
    const codeKeys = () => redis.keys('hp:{keys}:code:*');
    for (const shift of [-61_000, 61_000]) {
      const { code } = await api.client.createLoginCode();
      const [stored = ''] = await codeKeys();
      expect(await redis.pttl(stored)).toBeLessThanOrEqual(60_000);
      const [digest, key, at] = ((await redis.get(stored)) ?? '').split(' ');
      await redis.set(stored, `${digest} ${key} ${Number(at) + shift}`, 'KEEPTTL');
      expect(await statusOf(openBrowser(api).post('/v1/session/exchange', { code }))).toBe(401);
      expect(await codeKeys()).toEqual([]);
    }
  });
});

describe('a session ends', () => {
  test('with its key: revoked, or rotated after the grace', async () => {
    const { key, id } = await made();
    const browser = await logInWith(api, key);
    await api.client.rotateKey(id, { grace_s: 3600 });
    expect(await statusOf(browser.send('/v1/me'))).toBe(200);
    await api.client.rotateKey(id);
    expect(await statusOf(browser.send('/v1/me'))).toBe(401);
    const other = await made();
    const second = await logInWith(api, other.key);
    await api.client.revokeKey(other.id);
    expect(await problemOf(await second.send('/v1/me'))).toMatchObject({ status: 401, code: 'unauthorized' });
  });

  test('when its key expires', async () => {
    const { key, id } = await made({ expires_at: new Date(Date.now() + 3_600_000).toISOString() });
    const browser = await logInWith(api, key);
    expect(await statusOf(browser.send('/v1/me'))).toBe(200);
    await api.engine.redis.hset(`hp:{keys}:key:${id}`, 'expires', Date.now() - 1);
    expect(await statusOf(browser.send('/v1/me'))).toBe(401);
  });

  test('by logging out, and by the caller from elsewhere; its streams end', async () => {
    const { key } = await made();
    const browser = await logInWith(api, key);
    const stream = await browser.send('/v1/events', { headers: { accept: 'text/event-stream' } });
    const cookie = browser.cookie;
    const out = await browser.send('/v1/session', { method: 'DELETE' });
    expect(out.headers.getSetCookie()).toEqual(['holdpoint_session=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0']);
    expect(out.status).toBe(204);
    expect(await stream.text()).toContain(': open');
    browser.cookie = cookie;
    expect(await problemOf(await browser.send('/v1/me'))).toMatchObject({ status: 401, code: 'session_ended' });
    expect(await statusOf(browser.send('/v1/session', { method: 'DELETE' }))).toBe(204);

    const [away, here] = [await logInWith(api, key), await logInWith(api, key)];
    const headers = { authorization: `Bearer ${key}` };
    const list = sessionListSchema.parse(await (await away.send('/v1/sessions')).json()).data;
    const id = list.find(({ current }) => current)?.id;
    const ended = await fetch(`${api.address}/v1/sessions/${id}`, { method: 'DELETE', headers });
    expect(ended.status).toBe(204);
    expect(await statusOf(away.send('/v1/me'))).toBe(401);
    expect(await statusOf(here.send('/v1/me'))).toBe(200);
    expect(await problemOf(await here.send(`/v1/sessions/${id}`, { method: 'DELETE' }))).toMatchObject({
      code: 'session_not_found',
    });
  });

  test('12 hours after its last use, 7 days after its begin, and when the clock goes back before it', async () => {
    const { redis } = api.engine;
    const hours = 3_600_000;
    const { key } = await made({ limits: { requests_per_s: null, burst: null } });
    const begun = async () => {
      const browser = await logInWith(api, key);
      const [session] = await sessionsOf(key);
      return { browser, record: keyOf(session?.id ?? '') };
    };
    for (const [created, seen, status] of [
      [-11 * hours, -11 * hours, 200],
      [-13 * hours, -12 * hours - 1000, 401],
      [-7 * 24 * hours + 60_000, -hours, 200],
      [-7 * 24 * hours - 1000, -1000, 401],
      [hours, hours, 401],
    ] as const) {
      const { browser, record } = await begun();
      expect(await redis.pttl(record)).toBeGreaterThan(11 * hours);
      await redis.hset(record, { created: Date.now() + created, seen: Date.now() + seen });
      expect([created, seen, await statusOf(browser.send('/v1/me'))]).toEqual([created, seen, status]);
      expect(await redis.exists(record)).toBe(status === 200 ? 1 : 0);
      if (status === 401) continue;
      const bound = Math.min(12 * hours, created + 7 * 24 * hours);
      expect(await redis.pttl(record)).toBeLessThanOrEqual(bound);
      expect(await redis.pttl(record)).toBeGreaterThan(bound - 30_000);
      expect(Number(await redis.hget(record, 'seen'))).toBeGreaterThan(Date.now() - 30_000);
    }
  });

  test('never because Redis or the API was restarted', async () => {
    const other = await startTestApi();
    try {
      const browser = await logInWith(other, other.key);
      await other.redis.stop();
      expect(await statusOf(browser.send('/v1/me'))).toBe(503);
      other.redis = await startTestRedis(other.dataDir);
      await expect.poll(() => statusOf(browser.send('/v1/me')), { timeout: 10_000 }).toBe(200);
      await other.restart();
      expect(await statusOf(browser.send('/v1/me'))).toBe(200);
    } finally {
      await other.stop();
    }
  });
});

describe('the rights of a session', () => {
  test('are what its key has now', async () => {
    const { key, id } = await made();
    const browser = await logInWith(api, key);
    expect(await statusOf(browser.send('/v1/keys'))).toBe(200);
    const record = `hp:{keys}:key:${id}`;
    const kept = JSON.parse((await api.engine.redis.hget(record, 'record')) ?? '');
    await api.engine.redis.hset(record, 'record', JSON.stringify({ ...kept, scopes: ['runs:read'] }));
    expect(await problemOf(await browser.send('/v1/keys'))).toMatchObject({ status: 403, code: 'missing_scope' });
    expect(await statusOf(browser.send('/v1/runs'))).toBe(200);
  });

  test('are those of its tenant', async () => {
    const { key } = await made({ tenant: 'acme', scopes: ['runs:read'] });
    const { run } = await api.client.createRun({
      plan: { groups: [{ steps: [{ tool: 'bash', args: { command: 'true' } }] }] },
    });
    const browser = await logInWith(api, key);
    expect(await statusOf(browser.send(`/v1/runs/${run.id}`))).toBe(404);
    expect(await statusOf((await logInWith(api, api.key)).send(`/v1/runs/${run.id}`))).toBe(200);
  });

  test('do not count beside a key, good or bad', async () => {
    const { key, name } = await made({ scopes: ['runs:read'] });
    const browser = await logInWith(api, api.key);
    const beside = (text: string) => browser.send('/v1/me', { headers: { authorization: text } });
    expect(await (await beside(`Bearer ${key}`)).json()).toMatchObject({ name });
    expect(await statusOf(beside('Bearer hp_nothing'))).toBe(401);
    expect(await statusOf(beside('Basic eDp5'))).toBe(401);
  });
});

describe('a page of another origin', () => {
  const foreign = ['https://evil.example', 'http://127.0.0.1:1', 'http://localhost:1', 'null'];

  test.each(foreign)('%s neither logs in nor out, and writes nothing', async (origin) => {
    const browser = await logInWith(api, api.key);
    for (const [path, method, body] of [
      ['/v1/session', 'POST', { key: api.key }],
      ['/v1/session/exchange', 'POST', { code: 'x' }],
      ['/v1/session', 'DELETE', undefined],
      ['/v1/runs', 'POST', {}],
    ] as const) {
      const response = await browser.send(path, {
        ...{ method, body: body === undefined ? null : JSON.stringify(body) },
        headers: { origin, ...(body !== undefined && { 'content-type': 'application/json' }) },
      });
      expect(response.headers.getSetCookie()).toEqual([]);
      expect(await problemOf(response)).toMatchObject({ status: 403, code: 'origin_not_allowed' });
    }
    expect(await statusOf(browser.send('/v1/me'))).toBe(200);
  });

  test('cannot write by leaving its Origin out, nor log in by a form', async () => {
    const { cookie } = await logInWith(api, api.key);
    for (const [path, method] of [
      ['/v1/runs', 'POST'],
      ['/v1/secrets/x', 'PUT'],
      ['/v1/keys/x', 'DELETE'],
      ['/v1/session', 'DELETE'],
    ] as const) {
      const body = method === 'DELETE' ? null : '{}';
      const headers = { cookie, ...(body !== null && { 'content-type': 'application/json' }) };
      const response = await fetch(`${api.address}${path}`, { method, headers, body });
      expect([path, (await problemOf(response)).code]).toEqual([path, 'origin_not_allowed']);
    }
    const form = new URLSearchParams({ key: api.key });
    expect(await statusOf(fetch(`${api.address}/v1/session`, { method: 'POST', body: form }))).toBe(415);
  });

  test.each(['cross-site', 'same-site'])('reads nothing, streams included, as %s', async (site) => {
    const browser = await logInWith(api, api.key);
    for (const path of ['/v1/runs', '/v1/events', '/v1/me']) {
      const headers = { 'sec-fetch-site': site, accept: 'text/event-stream' };
      const response = await browser.send(path, { headers });
      expect((await problemOf(response)).code).toBe('origin_not_allowed');
    }
    const own = await browser.send('/v1/events', { headers: { accept: 'text/event-stream' } });
    expect(own.headers.get('cross-origin-resource-policy')).toBe('same-origin');
    expect(own.headers.get('access-control-allow-origin')).toBeNull();
    expect(own.headers.get('cache-control')).toBe('no-store');
    await own.body?.cancel();
  });

  test('cannot slip a second cookie in', async () => {
    const [person, attacker] = [await logInWith(api, api.key), await logInWith(api, (await made()).key)];
    const both = await person.send('/v1/me', { headers: { cookie: `${attacker.cookie}; ${person.cookie}` } });
    expect(await problemOf(both)).toMatchObject({ status: 401, detail: expect.stringContaining('several cookies') });
  });
});
