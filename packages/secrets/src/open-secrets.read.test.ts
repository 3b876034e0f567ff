import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSecrets, secretSettingsFrom } from './open-secrets.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'hp-secrets-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const at = { tenant: 'default' };
const open = (env: NodeJS.ProcessEnv) => openSecrets(secretSettingsFrom(env, { dataDir: join(dir, 'data') }));
const key = () => randomBytes(32).toString('base64');
const folder = (files: Record<string, string>, mode = 0o600) => {
  const path = join(dir, 'files');
  mkdirSync(path, { recursive: true, mode: 0o700 });
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(join(path, name, '..'), { recursive: true, mode: 0o700 });
    writeFileSync(join(path, name), content, { mode });
  }
  return path;
};

describe('environment', () => {
  it('takes prefixed and listed variables, and removes them and the key', () => {
    const env: NodeJS.ProcessEnv = {
      ...{ HOLDPOINT_SECRET_TOKEN: 'value-of-token', GITHUB_TOKEN: 'value-of-github', OTHER_TOKEN: 'not listed' },
      ...{ HOLDPOINT_SECRETS_ENV: 'GITHUB_TOKEN', HOLDPOINT_SECRETS_KEY: key() },
    };
    const secrets = open(env);
    expect(secrets.list('default').map(({ name, source }) => [name, source])).toEqual([
      ['GITHUB_TOKEN', 'environment'],
      ['TOKEN', 'environment'],
    ]);
    expect(secrets.resolve('TOKEN', at)).toBe('value-of-token');
    expect(env).toEqual({ OTHER_TOKEN: 'not listed', HOLDPOINT_SECRETS_ENV: 'GITHUB_TOKEN' });
    expect(secrets.redactor('default').text('value-of-github')).toBe('[secret GITHUB_TOKEN]');
    expect(secrets.redactor('other').text('value-of-github')).toBe('value-of-github');
    expect(() => secrets.resolve('TOKEN', { tenant: 'other' })).toThrow(/There is no secret TOKEN/);
  });

  it.each([
    [{ HOLDPOINT_SECRET_SHORT: '1234567' }, /HOLDPOINT_SECRET_SHORT has fewer than 8 bytes/],
    [{ 'HOLDPOINT_SECRET_a-b': 'long enough' }, /HOLDPOINT_SECRET_a-b names no secret/],
    [{ HOLDPOINT_SECRETS_DIR: 'files' }, /HOLDPOINT_SECRETS_DIR is no absolute path/],
    [{ HOLDPOINT_SECRETS_KEY: 'c2hvcnQ=' }, /HOLDPOINT_SECRETS_KEY is not 32 bytes/],
    [{ HOLDPOINT_SECRETS_KEY_FILE: '/nonexistent/key' }, /key of the secret store, .*, does not exist/],
    [{ HOLDPOINT_SECRETS_KEY: 'a', HOLDPOINT_SECRETS_KEY_FILE: '/b' }, /both set/],
  ])('refuses %j', (env, message) => {
    expect(() => open(env)).toThrow(message);
  });
});

describe('files', () => {
  it('reads them when they are needed, per tenant, without the last line end', () => {
    const path = folder({ TOKEN: 'value-of-token\n', 'acme/TOKEN': 'value-of-acme' });
    const secrets = open({ HOLDPOINT_SECRETS_DIR: path });
    expect(secrets.resolve('TOKEN', at)).toBe('value-of-token');
    expect(secrets.resolve('TOKEN', { tenant: 'acme' })).toBe('value-of-acme');
    writeFileSync(join(path, 'TOKEN'), 'another-value');
    expect(secrets.resolve('TOKEN', at)).toBe('another-value');
    const text = secrets.redactor('default').text('value-of-token another-value value-of-acme');
    expect(text).toBe('[secret TOKEN] [secret TOKEN] value-of-acme');
    expect(secrets.logRedactor().text('value-of-acme')).toBe('[secret TOKEN]');
  });

  it.each([
    ['others may read it', () => chmodSync(join(folder({ TOKEN: 'value-of-token' }), 'TOKEN'), 0o640), /mode 0640.*/],
    ['it is a link', () => symlinkSync('/etc/hostname', join(folder({}), 'TOKEN')), /is a link/],
    ['its name is no name', () => folder({ 'my-token': 'value-of-token' }), /its name is no name of a secret/],
    ['others may change the folder', () => chmodSync(folder({}), 0o777), /lets other users change it/],
    ['it is too short', () => folder({ TOKEN: 'short\n' }), /TOKEN has fewer than 8 bytes/],
    ['it is no text', () => writeFileSync(join(folder({}), 'TOKEN'), Buffer.alloc(20, 0xff), { mode: 0o600 }), /UTF-8/],
  ])('does not start when %s', (_name, plant, message) => {
    plant();
    expect(() => open({ HOLDPOINT_SECRETS_DIR: join(dir, 'files') })).toThrow(message);
  });
});

describe('the encrypted store', () => {
  const entry = (name: string) => join(dir, 'data/secrets/default', `${name}.json`);

  it('keeps values encrypted, counts versions, and removes them', async () => {
    const env = { HOLDPOINT_SECRETS_KEY: key() };
    const secrets = open({ ...env });
    expect(await secrets.set('TOKEN', 'value-of-token', at)).toMatchObject({
      name: 'TOKEN',
      source: 'store',
      version: 1,
    });
    expect(await secrets.set('TOKEN', 'second-value', at)).toMatchObject({ version: 2 });
    const other = open({ ...env });
    expect(other.resolve('TOKEN', at)).toBe('second-value');
    expect(readFileSync(entry('TOKEN'), 'utf8')).not.toContain('second-value');
    expect(readdirSync(join(dir, 'data/secrets/default'))).toEqual(['TOKEN.json']);
    await secrets.remove('TOKEN', at);
    expect(secrets.list('default')).toEqual([]);
    expect(() => other.resolve('TOKEN', at)).toThrow(expect.objectContaining({ code: 'ESECRETUNKNOWN' }));
    await expect(secrets.remove('TOKEN', at)).rejects.toThrow(expect.objectContaining({ code: 'ESECRETUNKNOWN' }));
    expect(secrets.redactor('default').text('value-of-token')).toBe('[secret TOKEN]');
  });

  it('does not start with another key, without a key, or with an entry that was changed, cut or exchanged', async () => {
    const env = { HOLDPOINT_SECRETS_KEY: key() };
    const secrets = open({ ...env });
    await secrets.set('TOKEN', 'value-of-token', at);
    await secrets.set('OTHER', 'value-of-other', at);
    expect(() => open({ HOLDPOINT_SECRETS_KEY: key() })).toThrow(/encrypted with another key/);
    expect(() => open({})).toThrow(expect.objectContaining({ code: 'ESECRETSTOREOFF' }));
    const text = readFileSync(entry('TOKEN'), 'utf8');
    for (const changed of [
      ...['', text.slice(0, -10), '{}', text.replace('"version":1', '"version":2')],
      text.replace(/(?<="sealed":")./, (first) => (first === '/' ? 'A' : '/')),
      readFileSync(entry('OTHER'), 'utf8'),
      readFileSync(entry('OTHER'), 'utf8').replace('"OTHER"', '"TOKEN"'),
    ]) {
      writeFileSync(entry('TOKEN'), changed);
      expect(() => open({ ...env }), changed).toThrow(expect.objectContaining({ code: 'ESECRETSTORE' }));
      expect(() => secrets.resolve('TOKEN', at)).toThrow(expect.objectContaining({ code: 'ESECRETSTORE' }));
    }
    renameSync(entry('OTHER'), entry('TOKEN'));
    expect(() => open({ ...env })).toThrow(/entry of another secret/);
  });

  it('refuses a key that others may read, short values, and names that the operator has', async () => {
    const file = join(dir, 'key');
    writeFileSync(file, key(), { mode: 0o644 });
    expect(() => open({ HOLDPOINT_SECRETS_KEY_FILE: file })).toThrow(/mode 0644: other users may read it/);
    chmodSync(file, 0o600);
    const secrets = open({ HOLDPOINT_SECRETS_KEY_FILE: file, HOLDPOINT_SECRET_MINE: 'value-of-mine' });
    await expect(secrets.set('SHORT', '1234567', at)).rejects.toThrow(
      expect.objectContaining({ code: 'ESECRETVALUE' }),
    );
    await expect(secrets.set('MINE', 'another value', at)).rejects.toThrow(
      expect.objectContaining({ code: 'ESECRETTAKEN' }),
    );
    await expect(open({}).set('NEW', 'another value', at)).rejects.toThrow(
      expect.objectContaining({ code: 'ESECRETSTOREOFF' }),
    );
  });
});
