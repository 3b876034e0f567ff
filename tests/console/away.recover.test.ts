import { afterAll, beforeAll, expect, test } from 'vitest';
import { plan } from '../harness/runs.ts';
import { type System, startSystem } from '../harness/system.ts';
import { checkAccess } from './check-access.ts';
import { useConsole, withBrowser } from './use-console.ts';

const it = useConsole();
/** What a browser says of requests to a server that is away. */
const away = [/Failed to load resource/, /ERR_/];

withBrowser('a page without its server', () => {
  let system: System;
  beforeAll(async () => {
    system = await startSystem();
  });
  afterAll(() => system?.[Symbol.asyncDispose]());

  test('keeps what was read and typed, says that it is old, and sends nothing by itself', async () => {
    const page = await it.open('/new-policy', { url: system.api.url(), key: system.key, expected: away });
    await page.locator('.nav').getByText('Live', { exact: true }).waitFor();
    const text = page.getByLabel('Policy as YAML or JSON');
    await page.getByLabel('Name').fill('typed');
    await text.fill('rules: [] # typed by a person\n');
    await system.api.kill();
    await page.getByText('What stands here is as it was at').waitFor();
    await checkAccess(page);
    await page.getByRole('button', { name: 'Save as version 1' }).click();
    await page.getByRole('alert').getByText('The server does not answer').waitFor();
    await system.api.start();
    await page.getByText('What stands here is as it was at').waitFor({ state: 'detached', timeout: 60_000 });
    expect(await text.inputValue()).toBe('rules: [] # typed by a person\n');
    expect(await system.client.listPolicies()).toEqual([]);
    await page.getByRole('button', { name: 'Save as version 1' }).click();
    await page.getByText('Version 1, by admin').waitFor();
  });
});

withBrowser('a session that has ended', () => {
  test('comes back to the same address with what was typed there', async () => {
    const page = await it.open('/new-policy', { expected: [/status of 401/] });
    await page.getByLabel('Name').fill('ended');
    await page.getByLabel('Policy as YAML or JSON').fill('publish: hold\n');
    await page.context().clearCookies();
    // A query of the page may be refused first: the login then lies over the button.
    await page.getByRole('button', { name: 'Check', exact: true }).dispatchEvent('click');
    await page.getByRole('dialog', { name: 'Your session has ended' }).waitFor();
    await page.getByLabel('Key', { exact: true }).fill(it.key);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(new URL(page.url()).pathname).toBe('/new-policy');
    expect(await page.getByLabel('Name').inputValue()).toBe('ended');
    await page.getByRole('button', { name: 'Save as version 1' }).click();
    await page.getByText('Version 1, by ann').waitFor();
  });
});

withBrowser('a key without runs:read', () => {
  test('is refused the stream once, says so, and its inbox is read all the same', async () => {
    const scopes = ['approvals:read', 'approvals:decide'] as const;
    const { key } = await it.client.createKey({ name: 'decider', kind: 'person', scopes: [...scopes] });
    const context = await it.context({ key });
    // A tab holds the stream then, and its requests are seen.
    await context.addInitScript({ content: 'delete globalThis.SharedWorker' });
    let asked = 0;
    context.on('request', (request) => {
      if (new URL(request.url()).pathname === '/v1/events') asked++;
    });
    const page = await it.open('/approvals', { context, expected: [/status of 403/] });
    await page.locator('.nav').getByText('Not live', { exact: true }).waitFor();
    await checkAccess(page);
    await it.client.createRun({
      title: 'Seen without a stream',
      plan: plan([{ tool: 'bash', args: { command: 'true' } }]),
      policy: { rules: [{ match: { tool: 'bash' }, action: 'hold' }] },
    });
    await page.getByText('Seen without a stream').waitFor();
    // React asks twice in no build but the one for development.
    expect(asked).toBe(1);
  });
});
