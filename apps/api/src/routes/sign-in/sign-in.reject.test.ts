import { PlainBrowser } from '@holdpoint/callers/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type SignInApi, startSignInApi } from '../../testing/sign-in-api.ts';

let t: SignInApi;
beforeAll(async () => {
  t = await startSignInApi({ refresh_s: 1, hold_s: 60 });
}, 60_000);
afterAll(() => t.stop());

const person = (name: string, ...groups: string[]): string => {
  t.idp.accounts.set(name, { groups });
  return name;
};
const start = (browser: PlainBrowser, as: string, query = '') =>
  browser.follow(`${t.api.address}/v1/sign-in/start${query}`, /\/v1\/sign-in\/callback\?/, as);
const placeOf = async (answer: Promise<Response>) => (await answer).headers.get('location');

test('a person signs in with the rights of their groups, and is a person of the callers', async () => {
  const { browser, page } = await t.signIn(person('ann', 'engineers', 'leads'), '?to=/runs');
  expect(page).toBe('/runs');
  const { body } = await t.me(browser);
  expect(body).toMatchObject({ name: 'ann@example.com', kind: 'person', tenant: 'default' });
  expect(body.scopes).toEqual(expect.arrayContaining(['runs:write', 'approvals:decide']));
  expect(body.scopes).not.toContain('keys:admin');
  const { data } = await t.api.client.listKeys({});
  expect(data.find(({ name }) => name === 'ann@example.com')).toMatchObject({
    person: 'ann@example.com',
    sign_in: { issuer: t.idp.issuer, subject: 'ann' },
  });
});

test.each([
  'https://evil.example',
  '//evil.example',
  '/\\evil.example',
  '/%5Cevil.example',
  '/\tevil',
  '/v1/keys',
  '/a\n',
])('a sign-in leads to no page elsewhere: %j', async (to) => {
  const { page } = await t.signIn(person('ann', 'engineers'), `?${new URLSearchParams({ to })}`);
  expect(page).toBe('/');
});

test('an answer works once, in the browser that began, and with the state and the nonce of it', async () => {
  const name = person('bob', 'engineers');
  const browser = new PlainBrowser();
  const callback = await start(browser, name);
  const stranger = new PlainBrowser();
  expect(await placeOf(stranger.request(callback))).toBe('/login#refused=sign_in_failed');
  // The victim of a login CSRF has begun a sign-in of their own, and gets the answer for another browser.
  await start(stranger, person('victim', 'engineers'));
  expect(await placeOf(stranger.request(callback))).toBe('/login#refused=sign_in_failed');
  expect(await placeOf(browser.request(callback))).toBe('/');
  expect(await placeOf(browser.request(callback))).toBe('/login#refused=sign_in_failed');

  const [one, other] = [await start(browser, name), await start(browser, name)];
  const swapped = new URL(one);
  swapped.searchParams.set('code', new URL(other).searchParams.get('code') ?? '');
  expect(await placeOf(browser.request(swapped.href))).toBe('/login#refused=sign_in_failed');
});

test('an answer of another issuer, or without one, is refused', async () => {
  const browser = new PlainBrowser();
  const callback = new URL(await start(browser, person('carl', 'engineers')));
  callback.searchParams.set('iss', 'https://evil.example');
  expect(await placeOf(browser.request(callback.href))).toBe('/login#refused=sign_in_failed');
  const again = new URL(await start(browser, 'carl'));
  again.searchParams.delete('iss');
  expect(await placeOf(browser.request(again.href))).toBe('/login#refused=sign_in_failed');
});

test('a person without a group, with an unverified address or of another tenant has no access', async () => {
  expect((await t.signIn(person('dora', 'visitors'))).page).toBe('/login#refused=sign_in_refused');
  t.idp.accounts.set('eve', { groups: ['engineers'], email_verified: false });
  expect((await t.signIn('eve')).page).toBe('/login#refused=sign_in_refused');
  expect((await t.signIn(person('fred', 'engineers'), '?tenant=guests')).page).toBe('/login#refused=sign_in_refused');
  expect((await t.signIn('fred', '?tenant=unknown')).page).toBe('/login#refused=sign_in_refused');
});

test('a session of a tenant sees nothing of another', async () => {
  const { run } = await t.api.client.createRun({ open: true });
  const { browser } = await t.signIn(person('gus', 'guests'));
  expect((await t.me(browser)).body).toMatchObject({ tenant: 'guests' });
  expect((await browser.request(`${t.api.address}/v1/runs/${run.id}`)).status).toBe(404);
});

test('rights fall when the group is lost, and the session ends with the last', async () => {
  const name = person('hugo', 'engineers', 'leads');
  const { browser } = await t.signIn(name);
  person(name, 'engineers');
  await expect
    .poll(async () => (await t.me(browser)).body.scopes, { timeout: 10_000 })
    .not.toContain('approvals:decide');
  expect((await t.me(browser)).body.scopes).toContain('runs:write');
  person(name);
  await expect.poll(async () => (await t.me(browser)).status, { timeout: 10_000 }).toBe(401);
  expect((await t.signIn(name)).page).toBe('/login#refused=sign_in_refused');
});

test('sessions hold while the provider is away, and the next sign-in after it works', async () => {
  const { browser } = await t.signIn(person('ida', 'engineers'));
  await t.idp.stop();
  try {
    await new Promise((resolve) => setTimeout(resolve, 2500));
    expect((await t.me(browser)).status).toBe(200);
  } finally {
    await t.idp.start();
  }
  expect((await t.signIn('ida')).page).toBe('/');
});

test('a sign-in replaces the session before, and a revoked key ends it', async () => {
  const { browser } = await t.signIn(person('jan', 'engineers'));
  const before = new PlainBrowser();
  for (const [name, value] of browser.cookies) before.cookies.set(name, value);
  expect((await t.me(before)).status).toBe(200);
  const callback = await start(browser, 'jan');
  await browser.request(callback);
  expect((await t.me(before)).status).toBe(401);
  const { body } = await t.me(browser);
  await t.api.client.revokeKey(String(body.key_id));
  expect((await t.me(browser)).status).toBe(401);
});

test('the key has no text that rotation could give', async () => {
  const { browser } = await t.signIn(person('kim', 'engineers'));
  const { body } = await t.me(browser);
  await expect(t.api.client.rotateKey(String(body.key_id), {})).rejects.toMatchObject({ code: 'key_of_sign_in' });
});

test('the key of an agent opens no session', async () => {
  const { key } = await t.api.client.createKey({ name: 'an agent', kind: 'agent', scopes: ['runs:read'] });
  const headers = { 'content-type': 'application/json', origin: t.api.address };
  const response = await fetch(`${t.api.address}/v1/session`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ key }),
  });
  expect([response.status, await response.json()]).toMatchObject([403, { code: 'agent_without_session' }]);
  const asked = await t.api.send('/v1/session/code', { method: 'POST', headers: { authorization: `Bearer ${key}` } });
  expect(asked.status).toBe(403);
});

/** What a person does at the page of the device flow. */
async function approve(page: string, as: string): Promise<void> {
  const browser = new PlainBrowser();
  let url = page;
  for (let hops = 0; hops < 12; hops += 1) {
    const response = await browser.request(url);
    const text = await response.text();
    const next = response.headers.get('location') ?? (await browser.submit(url, text, as));
    if (next === undefined) return;
    url = new URL(next, url).href;
  }
}

test('a command signs in, and its login opens no other session', async () => {
  const name = person('lena', 'engineers');
  const { device, verification_uri_complete = '' } = await t.api.client.startDeviceSignIn();
  expect(await t.api.client.pollDeviceSignIn({ device })).toEqual({ token: null });
  await approve(verification_uri_complete, name);
  const { token } = await t.api.client.pollDeviceSignIn({ device });
  const ask = (path: string, init: RequestInit = {}) =>
    t.api.send(path, { ...init, headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' } });
  expect(await (await ask('/v1/me')).json()).toMatchObject({ name: 'lena@example.com' });
  const sessions = (await (await ask('/v1/sessions')).json()) as { data: { id: string }[] };
  expect(sessions.data).toMatchObject([{ signed_in: 'command', current: true }]);
  expect((await ask('/v1/session/code', { method: 'POST' })).status).toBe(403);
  const opened = await ask('/v1/session', { method: 'POST', body: JSON.stringify({ key: token }) });
  expect([opened.status, opened.headers.getSetCookie()]).toEqual([403, []]);
  const cookie = await fetch(`${t.api.address}/v1/me`, { headers: { cookie: `holdpoint_session=${token}` } });
  expect(cookie.status).toBe(401);
  await expect(t.api.client.pollDeviceSignIn({ device })).rejects.toMatchObject({ code: 'sign_in_failed' });
  await expect(t.api.client.pollDeviceSignIn({ device: 'made-up' })).rejects.toMatchObject({ code: 'sign_in_failed' });
  await ask(`/v1/sessions/${sessions.data[0]?.id}`, { method: 'DELETE' });
  expect((await ask('/v1/me')).status).toBe(401);
});

test('a key that a signed-in person makes ends no later than the sign-in would', async () => {
  const { browser } = await t.signIn(person('mia', 'admins'));
  const headers = { 'content-type': 'application/json', origin: t.api.address, 'sec-fetch-site': 'same-origin' };
  const make = (more: object) =>
    browser.request(`${t.api.address}/v1/keys`, {
      ...{ method: 'POST', headers },
      body: JSON.stringify({ name: 'of mia', kind: 'service', scopes: ['runs:read'], ...more }),
    });
  expect((await make({})).status).toBe(403);
  expect((await make({ expires_at: new Date(Date.now() + 3_600_000).toISOString() })).status).toBe(201);
});
