import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { openSecrets, savedLogins, secretSettingsFrom } from './index.ts';

const root = mkdtempSync(join(tmpdir(), 'hp-logins-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const at = { tenant: 'default' };
const token = (number: number) => `token-${String(number).padStart(20, '0')}`;

function open(name: string, key = Buffer.alloc(32, 7).toString('base64')) {
  const dataDir = join(root, name);
  const environment = key === '' ? {} : { HOLDPOINT_SECRETS_KEY: key };
  return { dataDir, secrets: openSecrets(secretSettingsFrom(environment, { dataDir })) };
}

test('a login is read by another process, is no secret, and is redacted line by line', async () => {
  const { dataDir, secrets } = open('one');
  await secrets.logins.write('own', `{"a":1}\n${token(1)}\n${token(2)}`, at);
  const other = open('one').secrets;
  expect(other.logins.list('default')).toEqual(['own']);
  expect(other.logins.read('own', at)).toContain(token(2));
  expect(other.logins.read('own', { tenant: 'other' })).toBeUndefined();
  expect(other.list('default')).toEqual([]);
  expect(() => other.resolve('own', at)).toThrow('There is no secret own.');
  for (const redactor of [other.redactor('default'), other.logRedactor()])
    expect(redactor.text(`${token(1)} and ${token(2)}`)).toBe('[secret own] and [secret own]');
  expect(savedLogins(dataDir, 'default')).toEqual(['own']);
  await other.logins.remove('own', at);
  await other.logins.remove('own', at);
  expect(secrets.logins.read('own', at)).toBeUndefined();
});

test('the last tokens are redacted, and a login that is renewed for weeks makes no redactor longer', async () => {
  const { secrets } = open('two');
  for (let number = 0; number < 20; number++) await secrets.logins.write('own', `{}\n${token(number)}`, at);
  const shown = Array.from({ length: 20 }, (_, number) => secrets.redactor('default').text(token(number)));
  expect(shown.filter((text) => text === '[secret own]')).toHaveLength(4);
  expect(shown.slice(-4)).toEqual(Array(4).fill('[secret own]'));
});

test('without a key nothing is kept, and with logins no process starts', async () => {
  const { secrets } = open('three', '');
  expect(() => secrets.logins.assertOpen()).toThrow('no key');
  await expect(secrets.logins.write('own', token(1), at)).rejects.toMatchObject({ code: 'ESECRETSTOREOFF' });
  await open('three').secrets.logins.write('own', token(1), at);
  expect(() => open('three', '')).toThrow('no key is set');
});

test('two of a process work with a login one after the other', async () => {
  const { secrets } = open('four');
  const order: string[] = [];
  const { signal } = new AbortController();
  const work = (name: string) =>
    secrets.logins.exclusively('own', { ...at, signal }, async () => {
      order.push(`${name} begins`);
      await new Promise(setImmediate);
      order.push(`${name} ends`);
    });
  await Promise.all([work('a'), work('b')]);
  expect(
    [order.slice(0, 2), order.slice(2)].map(([first = '', last]) => last === first.replace('begins', 'ends')),
  ).toEqual([true, true]);
  const aborted = AbortSignal.abort(new Error('late'));
  await secrets.logins.exclusively('own', { ...at, signal }, () =>
    expect(secrets.logins.exclusively('own', { ...at, signal: aborted }, async () => undefined)).rejects.toThrow(
      'late',
    ),
  );
});
