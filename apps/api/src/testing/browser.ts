import { expect } from 'vitest';
import type { TestApi } from './test-api.ts';

/** A page of this server in a browser: keeps the cookie, and names its origin as browsers do. */
export interface Browser {
  cookie: string;
  send(path: string, init?: RequestInit): Promise<Response>;
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Response>;
}

export function openBrowser(api: Pick<TestApi, 'address'>): Browser {
  const browser: Browser = {
    cookie: '',
    async send(path, init = {}) {
      const isRead = (init.method ?? 'GET') === 'GET';
      const own = { cookie: browser.cookie, 'sec-fetch-site': 'same-origin', ...(!isRead && { origin: api.address }) };
      const response = await fetch(`${api.address}${path}`, { ...init, headers: { ...own, ...init.headers } });
      const [set] = response.headers.getSetCookie();
      if (set !== undefined) browser.cookie = set.split(';', 1)[0] ?? '';
      return response;
    },
    post: (path, body, headers = {}) =>
      browser.send(path, {
        ...{ method: 'POST', body: JSON.stringify(body) },
        headers: { 'content-type': 'application/json', ...headers },
      }),
  };
  return browser;
}

export async function logInWith(api: Pick<TestApi, 'address'>, key: string): Promise<Browser> {
  const browser = openBrowser(api);
  expect((await browser.post('/v1/session', { key })).status).toBe(204);
  return browser;
}
