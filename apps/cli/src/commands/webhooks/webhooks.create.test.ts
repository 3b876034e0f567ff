import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemForTests } from '../../testing/system.ts';

const { holdpoint } = systemForTests({
  HOLDPOINT_SECRETS_KEY: randomBytes(32).toString('base64'),
  HOLDPOINT_ALLOW_ADDRESSES: '127.0.0.1/32',
});
const taken: string[] = [];
let status = 204;
const server = createServer((request, response) => {
  taken.push(String(request.headers['webhook-id']));
  request.resume();
  response.writeHead(status).end();
});
let address: string;
beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
});
afterAll(() => server.close());

test('a webhook is stored, shown, tested, rotated, switched off and on, and deleted', async () => {
  const put = await holdpoint('webhooks', 'put', 'ci', address, '--events', 'run.*', 'approval.*', '--label', 'team=a');
  expect(put).toMatchObject({ code: 0, stderr: expect.stringContaining('not shown again') });
  const [secret = ''] = /whsec_\S+/.exec(put.stdout) ?? [];
  expect(secret).not.toBe('');
  expect((await holdpoint('webhooks', 'list')).stdout).toMatch(/ci +active +http:\S+\/hook +run\.\* approval\.\*/);
  const shown = await holdpoint('webhooks', 'show', 'ci');
  expect(shown.stdout).toContain('team=a');
  expect(shown.stdout).not.toContain('whsec_');
  expect((await holdpoint('webhooks', 'test', 'ci')).stdout).toContain('it answered 204');
  expect(taken).toHaveLength(1);
  status = 500;
  const failed = await holdpoint('webhooks', 'test', 'ci');
  expect(failed).toMatchObject({ code: 1, stderr: expect.stringContaining('it answered 500') });
  const rotated = await holdpoint('webhooks', 'rotate', 'ci');
  expect(rotated.stdout).toMatch(/whsec_/);
  expect(rotated.stdout).not.toContain(secret);
  const off = await holdpoint('webhooks', 'off', 'ci', '--reason', 'moving');
  expect(off.stdout).toMatch(/version 3, off\noff +by .*: moving/);
  expect((await holdpoint('doctor')).stdout).toMatch(/webhooks.*ci is off: moving/);
  expect((await holdpoint('webhooks', 'on', 'ci')).stdout).toContain('active');
  expect((await holdpoint('webhooks', 'deliveries', 'ci', '--json')).stdout).toContain('"data":[]');
  expect((await holdpoint('webhooks', 'delete', 'ci')).stdout).toContain('ci is deleted');
  expect(await holdpoint('webhooks', 'show', 'ci')).toMatchObject({ code: 7 });
});

test('a mistake is named, and the guide shows commands that exist', async () => {
  const unknown = await holdpoint('webhooks', 'put', 'ci', address, '--events', 'run.dreamt');
  expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining('run.dreamt'.slice(0, 4)) });
  const inside = await holdpoint('webhooks', 'put', 'ci', 'https://10.0.0.1/', '--events', '*');
  expect(inside.code).toBe(2);
  const guide = readFileSync('docs/webhooks.md', 'utf8');
  const help = (await holdpoint('webhooks', '--help')).stdout;
  for (const [, command = ''] of guide.matchAll(/^holdpoint webhooks (\w+)/gm)) expect(help).toContain(command);
});
