import { type Client, createClient } from '@holdpoint/client';
import { installationScopes } from '@holdpoint/contract';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, inject } from 'vitest';
import { findBrowser } from '../../scripts/find-browser.ts';
import { type Watched, watch } from './watch-page.ts';

const shared = inject('console');

/** Tests with a browser; skipped on a machine without one. */
export const withBrowser = describe.skipIf(shared === undefined);

interface OpenOptions {
  width?: number;
  theme?: 'light' | 'dark';
  /** A login of another caller; null: none. */
  key?: string | null;
  /** Console errors that belong to the test, such as a refused request. */
  expected?: readonly RegExp[];
  /** An address other than the shared system's. */
  url?: string;
  context?: BrowserContext;
}

export interface Console {
  client: Client;
  key: string;
  url: string;
  dataDir: string;
  /** Opens a page of the console, logged in. The test fails on whatever the page reports as wrong. */
  open(path: string, options?: OpenOptions): Promise<Page>;
  context(options?: OpenOptions): Promise<BrowserContext>;
}

/** A browser and a tenant for the tests of a file. */
export function useConsole(): Console {
  const opened: { context: BrowserContext; watched: Watched[] }[] = [];
  const it = {} as Console;
  let browser: Browser | undefined;
  beforeAll(async () => {
    if (shared === undefined) return;
    browser = await launch();
    const { url, dataDir } = shared;
    const admin = createClient({ baseUrl: url, key: shared.key });
    const tenant = `t-${crypto.randomUUID().slice(0, 8)}`;
    const scopes = (await admin.getMe()).scopes.filter((scope) => !installationScopes.has(scope));
    const { key } = await admin.createKey({ name: 'ann', kind: 'person', tenant, scopes });
    await admin.close();
    Object.assign(it, { url, dataDir, key, client: createClient({ baseUrl: url, key }) });
  });
  afterEach(async () => {
    const all = opened.splice(0);
    await Promise.all(all.map(({ context }) => context.close()));
    expect(all.flatMap(({ watched }) => watched.flatMap(({ problems }) => problems))).toEqual([]);
  });
  afterAll(async () => {
    await it.client?.close();
    await browser?.close();
  });
  it.context = async ({ width = 1280, theme = 'light', key = it.key, url = it.url } = {}) => {
    if (browser === undefined) throw new Error('the browser is not started yet');
    const viewport = { width, height: width < 600 ? 780 : 900 };
    const context = await browser.newContext({ viewport, colorScheme: theme, baseURL: url, reducedMotion: 'reduce' });
    opened.push({ context, watched: [] });
    if (key !== null) await logIn(context, url, key);
    return context;
  };
  it.open = async (path, options = {}) => {
    const context = options.context ?? (await it.context(options));
    const page = await context.newPage();
    const watched = await watch(page, options.url ?? it.url, options.expected ?? []);
    opened.find((one) => one.context === context)?.watched.push(watched);
    await page.goto(path);
    return page;
  };
  return it;
}

async function launch(): Promise<Browser> {
  const found = findBrowser();
  if ('missing' in found) throw new Error(found.missing);
  const asRoot = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  const quiet = [
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ];
  return chromium.launch({ executablePath: found.path, args: [...asRoot, ...quiet, '--disable-gpu'] });
}

/** As the login page does; the page itself is tried in a test of its own. */
async function logIn(context: BrowserContext, url: string, key: string): Promise<void> {
  const answer = await context.request.post(`${url}/v1/session`, { data: { key }, headers: { origin: url } });
  expect(answer.status()).toBe(204);
}
