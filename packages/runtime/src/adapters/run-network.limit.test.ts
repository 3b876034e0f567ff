import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { noSecrets } from '@holdpoint/secrets/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openCallNetwork } from './run-network.ts';

const server = createServer((request, response) => {
  if (request.url === '/away') response.writeHead(302, { location: 'http://other.localhost/' }).end();
  else if (request.method === 'POST') request.pipe(response);
  else response.end('here');
});
let target = '';
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  target = `localhost:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());

const signal = new AbortController().signal;
const scope = { tenant: 'default', secrets: [] };
const callNetwork = async (granted: readonly string[], allowAddresses = ['127.0.0.0/8', '::1/128']) => {
  const opened = await openCallNetwork(
    { network: { allow: ['listed.test'] }, granted, scope, onConnection: () => {} },
    { allowAddresses, secrets: noSecrets },
  );
  if (opened === undefined) throw new TypeError('the call has a network');
  return opened;
};

test('reaches a host that was opened for the call, and no other call reaches it', async () => {
  await using opened = await callNetwork([target]);
  const { body } = await opened.network.fetch({ url: `http://${target}/` }, signal);
  expect(String(body)).toBe('here');
  await using other = await callNetwork([]);
  await expect(other.network.fetch({ url: `http://${target}/` }, signal)).rejects.toMatchObject({
    code: 'EHOSTNOTALLOWED',
  });
});

test('sends a body with its method and headers', async () => {
  await using opened = await callNetwork([target]);
  const headers = { 'content-type': 'application/json' };
  const { status, body } = await opened.network.fetch(
    { url: `http://${target}/`, method: 'POST', headers, body: '{"a":"é"}', max_bytes: 1000, timeout_ms: 10_000 },
    signal,
  );
  expect([status, String(body)]).toEqual([200, '{"a":"é"}']);
});

test('opens neither where the host redirects to, nor another port of it', async () => {
  await using opened = await callNetwork([target]);
  await expect(opened.network.fetch({ url: `http://${target}/away` }, signal)).rejects.toMatchObject({
    code: expect.stringMatching(/EHOSTNOTALLOWED|EREDIRECTREFUSED/),
  });
  await expect(opened.network.fetch({ url: 'http://localhost:1/' }, signal)).rejects.toMatchObject({
    code: 'EHOSTNOTALLOWED',
  });
});

test('a private address stays refused', async () => {
  await using opened = await callNetwork([target], []);
  await expect(opened.network.fetch({ url: `http://${target}/` }, signal)).rejects.toMatchObject({
    code: 'EADDRESSREFUSED',
  });
  const address = target.replace('localhost', '127.0.0.1');
  await using literal = await callNetwork([address]);
  await expect(literal.network.fetch({ url: `http://${address}/` }, signal)).rejects.toMatchObject({
    code: 'EHOSTNOTALLOWED',
  });
});

test('rules of the tool open its hosts, and what was approved, in a run without a network', async () => {
  const open = (reaches: string[], granted: string[] = []) =>
    openCallNetwork(
      { network: { allow: [] }, granted, reaches, scope, onConnection: () => {} },
      { allowAddresses: ['127.0.0.0/8', '::1/128'], secrets: noSecrets },
    );
  for (const given of [open([target]), open([], [target])]) {
    await using opened = await given;
    const body = await opened?.network.fetch({ url: `http://${target}/` }, signal);
    expect(String(body?.body)).toBe('here');
    await expect(opened?.network.fetch({ url: 'http://listed.test/' }, signal)).rejects.toMatchObject({
      code: 'EHOSTNOTALLOWED',
    });
  }
  expect(await open([])).toBeUndefined();
});

test('a rule of the tool for an address that the operator did not open counts as absent', async () => {
  const operator = { allowAddresses: [], secrets: noSecrets };
  const call = { network: { allow: [] }, reaches: ['10.0.0.1:80', '*.com', 'no rule'], scope, onConnection: () => {} };
  expect(await openCallNetwork(call, operator)).toBeUndefined();
});

test('a run without a network has none, whatever was approved', async () => {
  const call = { network: { allow: [] }, granted: [target], scope, onConnection: () => {} };
  expect(await openCallNetwork(call, { allowAddresses: [], secrets: noSecrets })).toBeUndefined();
});
