import { createServer } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { checkReach, describeReach, readTarget } from './check-reach.ts';

const server = createServer((socket) => socket.destroy());
let port = 0;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as { port: number }).port;
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

const levels = (findings: readonly { name: string; level: string }[]): string[] =>
  findings.map(({ name, level }) => `${name} ${level}`);

it('names the setting that opens a private address, and says whether something listens there', async () => {
  const findings = await checkReach({ environment: { HOLDPOINT_ALLOW_ADDRESSES: '10.1.0.0/16' } }, `127.0.0.1:${port}`);
  expect(levels(findings)).toEqual(['address fail', 'connection ok', 'verdict fail']);
  expect(findings.at(-1)?.next).toContain('HOLDPOINT_ALLOW_ADDRESSES=10.1.0.0/16,127.0.0.1 ');
  const opened = { HOLDPOINT_ALLOW_ADDRESSES: '10.1.0.0/16,127.0.0.1' };
  const after = await checkReach({ environment: opened }, `127.0.0.1:${port}`);
  expect(levels(after)).toEqual(['address ok', 'connection ok', 'verdict ok']);
  expect(after.at(-1)?.text).toContain(`--set prepare.network.allow+=127.0.0.1:${port}`);
});

it('says in words that nothing listens', async () => {
  const findings = await checkReach({ environment: { HOLDPOINT_ALLOW_ADDRESSES: '127.0.0.0/8' } }, '127.0.0.1:1');
  expect(findings.find(({ name }) => name === 'connection')?.text).toContain(
    'nothing may be listening there (ECONNREFUSED)',
  );
});

it('says that a name does not exist', async () => {
  const [finding, ...more] = await checkReach({ environment: {} }, 'no-such-host.invalid');
  expect(more).toEqual([]);
  expect(finding).toMatchObject({ level: 'fail', text: expect.stringContaining('no-such-host.invalid') });
});

it('a name with one private address among public ones is refused as a whole', () => {
  const addresses = [
    { address: '203.0.114.7', verdict: 'public' as const },
    { address: '10.0.0.5', verdict: 'refused' as const, reason: 'private' },
  ];
  const findings = describeReach(
    { host: 'a.example', port: 443, isLiteral: false, addresses, connected: '203.0.114.7' },
    [],
  );
  expect(levels(findings)).toEqual(['address ok', 'address fail', 'connection ok', 'verdict fail']);
  expect(findings.at(-1)?.next).toContain('HOLDPOINT_ALLOW_ADDRESSES=10.0.0.5 ');
});

it.each([
  ['example.org', 'example.org', 443],
  ['example.org:8080', 'example.org', 8080],
  ['http://example.org/path', 'example.org', 80],
  ['[::1]:99', '::1', 99],
])('reads %s', (asked, host, at) => expect(readTarget(asked)).toEqual({ host, port: at }));

it.each(['a/b', '', 'a b', 'a:99999'])('refuses %j with an advice', (asked) => {
  expect(() => readTarget(asked)).toThrow(expect.objectContaining({ next: expect.stringContaining('host:port') }));
});
