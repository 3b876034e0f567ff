import { PlainBrowser } from '@holdpoint/callers/testing';
import type { JWTPayload } from 'jose';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type ForgingProvider, startForgingProvider } from '../../testing/forging-provider.ts';
import { type SignInApi, startSignInApi } from '../../testing/sign-in-api.ts';

const secret = 'the secret of a client of a test, long enough';
const event = 'http://schemas.openid.net/event/backchannel-logout';
let forger: ForgingProvider;
let t: SignInApi;
beforeAll(async () => {
  forger = await startForgingProvider(secret);
  t = await startSignInApi({ issuer: forger.issuer, clock_skew_s: 30, hold_s: 400 });
}, 60_000);
afterAll(async () => {
  await t.stop();
  forger.stop();
});
beforeEach(() => {
  forger.idToken = (claims) => forger.sign(claims);
});

const now = (): number => Math.floor(Date.now() / 1000);
async function signIn(): Promise<{ browser: PlainBrowser; page: string | null }> {
  const browser = new PlainBrowser();
  const begun = await browser.request(`${t.api.address}/v1/sign-in/start`);
  const answer = await browser.request(forger.answerTo(begun.headers.get('location') ?? '').href);
  return { browser, page: answer.headers.get('location') };
}

test.each<[string, (claims: JWTPayload) => Promise<string> | string]>([
  ['without a signature', (claims) => forger.none(claims)],
  ['signed by another key', (claims) => forger.sign(claims, { with: 'another key' })],
  ['signed with the secret of the client', (claims) => forger.sign(claims, { with: 'the client secret' })],
  ['for another client', (claims) => forger.sign({ ...claims, aud: 'another' })],
  [
    'for two clients, by order of the other',
    (claims) => forger.sign({ ...claims, aud: ['holdpoint', 'another'], azp: 'another' }),
  ],
  ['of another issuer', (claims) => forger.sign({ ...claims, iss: 'https://evil.example' })],
  ['that has expired', (claims) => forger.sign({ ...claims, exp: now() - 40 })],
  ['that is not valid yet', (claims) => forger.sign({ ...claims, nbf: now() + 40 })],
  ['with the nonce of another sign-in', (claims) => forger.sign({ ...claims, nonce: 'another' })],
  ['without a nonce', ({ nonce: _, ...claims }) => forger.sign(claims)],
  ['without a subject', ({ sub: _, ...claims }) => forger.sign(claims)],
  [
    'that was changed',
    async (claims) =>
      (await forger.sign(claims)).replace(
        /\.[^.]+\./,
        `.${Buffer.from(JSON.stringify({ ...claims, sub: 'root' })).toString('base64url')}.`,
      ),
  ],
])('an ID token %s opens no session', async (_what, make) => {
  forger.idToken = make;
  const { browser, page } = await signIn();
  expect(page).toMatch(/^\/login#refused=sign_in_(failed|refused)$/);
  expect((await t.me(browser)).status).toBe(401);
});

test('clocks may differ by the seconds that the operator allows', async () => {
  forger.idToken = (claims) => forger.sign({ ...claims, exp: now() - 10, iat: now() + 20 });
  expect((await signIn()).page).toBe('/');
});

test('the name of another person, or of Holdpoint itself, is refused', async () => {
  forger.idToken = (claims) => forger.sign({ ...claims, sub: 'mallory', email: 'Ann@example.com' });
  expect((await signIn()).page).toBe('/login#refused=key_name_taken');
  for (const email of ['admin', 'the operator', 'run_1', '<b>', '']) {
    forger.idToken = (claims) => forger.sign({ ...claims, sub: `of ${email}`, email });
    expect((await signIn()).page).toMatch(/refused=(key_name_taken|sign_in_refused)$/);
  }
});

test('a person who is renamed at the provider keeps their name here', async () => {
  forger.idToken = (claims) => forger.sign({ ...claims, email: 'ann.new@example.com' });
  expect((await t.me((await signIn()).browser)).body).toMatchObject({ name: 'ann@example.com' });
});

const logOut = (token: string) =>
  fetch(`${t.api.address}/v1/sign-in/back-channel-logout`, {
    method: 'POST',
    body: new URLSearchParams({ logout_token: token }),
  });
let made = 0;
const logoutClaims = (more: JWTPayload = {}): JWTPayload => {
  const { nonce: _, email: __, groups: ___, ...claims } = forger.claims();
  made += 1;
  return { ...claims, jti: `request ${made}`, events: { [event]: {} }, ...more };
};

test.each<[string, () => Promise<string> | string]>([
  ['without a signature', () => forger.none(logoutClaims())],
  ['signed by another key', () => forger.sign(logoutClaims(), { with: 'another key' })],
  ['signed with the secret of the client', () => forger.sign(logoutClaims(), { with: 'the client secret' })],
  ['for another client', () => forger.sign(logoutClaims({ aud: 'another' }))],
  ['of another issuer', () => forger.sign(logoutClaims({ iss: 'https://evil.example' }))],
  ['that has expired', () => forger.sign(logoutClaims({ exp: now() - 40 }))],
  ['of an hour ago', () => forger.sign(logoutClaims({ iat: now() - 3600 }))],
  ['with a nonce, as an ID token has', () => forger.sign(logoutClaims({ nonce: 'x' }))],
  ['without the event', () => forger.sign(logoutClaims({ events: {} }))],
  ['without an id', () => forger.sign(logoutClaims({ jti: undefined }))],
  ['that names no one', () => forger.sign(logoutClaims({ sub: undefined }))],
  ['that is an ID token', () => forger.sign(forger.claims())],
  ['that is none', () => 'x.y.z'],
])('a request to log out %s ends no session', async (_what, make) => {
  const { browser } = await signIn();
  expect((await logOut(await make())).status).toBe(400);
  expect((await t.me(browser)).status).toBe(200);
});

test('a request to log out ends the sessions of its person once, or those of one session there', async () => {
  const { browser: other } = await (async () => {
    forger.idToken = (claims) => forger.sign({ ...claims, sub: 'bob', email: 'bob@example.com' });
    return signIn();
  })();
  const withSid = (sid: string) => {
    forger.idToken = (claims) => forger.sign({ ...claims, sid });
    return signIn();
  };
  const [first, second] = [await withSid('one'), await withSid('two')];
  // The session of another person is not in reach, whatever id the request names.
  expect((await logOut(await forger.sign(logoutClaims({ sub: 'bob', sid: 'one' })))).status).toBe(204);
  expect((await t.me(first.browser)).status).toBe(200);
  expect((await logOut(await forger.sign(logoutClaims({ sid: 'one' })))).status).toBe(204);
  expect([(await t.me(first.browser)).status, (await t.me(second.browser)).status]).toEqual([401, 200]);
  // A sign-in that was under way at the provider when its session ended opens none here.
  expect((await withSid('one')).page).toBe('/login#refused=sign_in_refused');
  const all = await forger.sign(logoutClaims());
  expect((await logOut(all)).status).toBe(204);
  expect((await t.me(second.browser)).status).toBe(401);
  const { browser } = await withSid('three');
  expect((await logOut(all)).status).toBe(400);
  expect([(await t.me(browser)).status, (await t.me(other)).status]).toEqual([200, 200]);
});

test('a page cannot send the request as JSON, and other routes take no forms', async () => {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const body = new URLSearchParams({ key: t.api.key }).toString();
  expect((await fetch(`${t.api.address}/v1/session`, { method: 'POST', headers, body })).status).toBe(415);
});
