import { expect, test } from 'vitest';
import { call } from '../testing/cli.ts';
import { systemForTests } from '../testing/system.ts';

const { env, holdpoint } = systemForTests();

/** A browser logs in by a printed link; the answer is its cookie. */
async function logIn(): Promise<{ origin: string; cookie: string }> {
  const { origin, hash } = new URL((await holdpoint('open')).stdout.trim());
  const code = new URLSearchParams(hash.slice(1)).get('code');
  const response = await fetch(`${origin}/v1/session/exchange`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin },
    body: JSON.stringify({ code }),
  });
  return { origin, cookie: response.headers.getSetCookie()[0]?.split(';')[0] ?? '' };
}

const statusOf = async ({ origin, cookie }: { origin: string; cookie: string }): Promise<number> =>
  (await fetch(`${origin}/v1/me`, { headers: { cookie } })).status;

test('browsers are listed, and logged out alone or all at once', async () => {
  expect((await holdpoint('sessions', 'list')).stderr).toContain('No browser is logged in');
  const [first, second, third] = [await logIn(), await logIn(), await logIn()];
  const { stdout } = await holdpoint('sessions', 'list');
  const ids = [...stdout.matchAll(/^ses_[0-9a-f]{32}/gm)].map(([id]) => id);
  expect(ids).toHaveLength(3);
  const oldest = ids.at(-1) ?? '';
  expect((await holdpoint('sessions', 'end', oldest)).stdout).toBe(`${oldest} has ended\n`);
  expect(await Promise.all([first, second, third].map(statusOf))).toEqual([401, 200, 200]);
  expect((await holdpoint('sessions', 'end', oldest)).code).toBe(7);
  expect(JSON.parse((await holdpoint('sessions', 'end', '--all', '--json')).stdout)).toEqual({ ended: 2 });
  expect(await Promise.all([second, third].map(statusOf))).toEqual([401, 401]);
});

test('neither an id nor --all, both, and the session of another key are refused', async () => {
  expect((await holdpoint('sessions', 'end')).code).toBe(2);
  expect((await holdpoint('sessions', 'end', `ses_${'0'.repeat(32)}`, '--all')).code).toBe(2);
  await logIn();
  const [own] = JSON.parse((await holdpoint('sessions', 'list', '--json')).stdout);
  const made = await holdpoint('keys', 'create', 'other', '--kind', 'person', '--scope', 'runs:read');
  const other = await call(['sessions', 'end', own.id], { ...env, HOLDPOINT_KEY: made.stdout.trim() });
  expect(other).toMatchObject({ code: 7, stderr: expect.stringContaining('has no session') });
});
