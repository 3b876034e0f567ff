import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort, type IdentityProvider, startIdentityProvider } from '@holdpoint/callers/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type System, startSystem } from '../harness/system.ts';
import { checkAccess } from './check-access.ts';
import { useConsole, withBrowser } from './use-console.ts';

const it = useConsole();
let system: System;
let idp: IdentityProvider;
let url: string;

async function startWithProvider(): Promise<void> {
  system = await startSystem();
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  const at = `${url}/v1/sign-in`;
  idp = await startIdentityProvider({ redirectUri: `${at}/callback`, logoutUri: `${at}/back-channel-logout` });
  const { client_id, client_secret } = idp.client;
  const [secret, file] = [join(system.directory, 'secret'), join(system.directory, 'sign-in.json')];
  await writeFile(secret, client_secret);
  const groups = [{ group: 'engineers', roles: ['developer'] }];
  const client = { client_id, client_secret: { file: secret } };
  await writeFile(file, JSON.stringify({ issuer: idp.issuer, ...client, url, label: 'Example', groups, refresh_s: 1 }));
  await system.startOtherApi({ HOLDPOINT_PORT: `${port}`, HOLDPOINT_SIGN_IN: file });
  idp.accounts.set('ann', { groups: ['engineers'] });
  idp.accounts.set('zoe', { groups: ['visitors'] });
}

withBrowser('signing in with an identity provider', () => {
  beforeAll(startWithProvider, 90_000);
  afterAll(async () => {
    await idp?.stop();
    await system?.[Symbol.asyncDispose]();
  });

  // The pages of the provider are of another origin, and its icon and fonts are not there.
  const open = async (path: string) => {
    const context = await it.context({ url, key: null });
    // The pages of the provider ask for a font of the internet.
    const font = 'https://fonts.googleapis.com/';
    await context.route(`${font}**`, (route) => route.fulfill({ contentType: 'text/css', body: '' }));
    const expected = [new RegExp(`^(${idp.issuer}|${font})`), /favicon/, /status of 401/, /status of 404/];
    return it.open(path, { url, context, expected });
  };

  test('leads from the page that was asked for to the provider and back, with a cookie out of reach of scripts', async () => {
    const page = await open('/schedules');
    const link = page.getByRole('link', { name: 'Sign in with Example' });
    await link.waitFor();
    await checkAccess(page);
    await link.click();
    await page.getByPlaceholder('Enter any login').fill('ann');
    await page.getByPlaceholder('and password').fill('any');
    await page.getByRole('button').first().click();
    await page.waitForURL(`${url}/schedules`);
    await page.getByRole('heading', { name: 'Schedules' }).waitFor();
    const cookies = await page.context().cookies(url);
    expect(cookies.find(({ name }) => name === 'holdpoint_session')).toMatchObject({
      httpOnly: true,
      sameSite: 'Strict',
    });
    expect(await page.evaluate('document.cookie')).toBe('');
    await page.goto('/sessions');
    await page.getByText('this browser').waitFor();
    await page.getByText('Signed in', { exact: false }).first().waitFor();
    await checkAccess(page);
    // The group is lost while the page is open.
    idp.accounts.set('ann', { groups: [] });
    await page.getByRole('dialog', { name: 'Your session has ended' }).waitFor({ timeout: 20_000 });
    await page.getByRole('dialog').getByRole('link', { name: 'Sign in with Example' }).waitFor();
  });

  test('says why a sign-in was refused, and nothing that the address says', async () => {
    const page = await open('/login');
    await page.getByRole('link', { name: 'Sign in with Example' }).click();
    await page.getByPlaceholder('Enter any login').fill('zoe');
    await page.getByPlaceholder('and password').fill('any');
    await page.getByRole('button').first().click();
    await page.getByRole('alert').getByText('Your account has no access here').waitFor();
    await page.goto('/login#refused=%3Cimg%20src%3Dx%3E');
    await page.reload();
    await page.getByRole('alert').getByText('The sign-in failed. Begin again.').waitFor();
  });
});
