import { expect, test } from 'vitest';
import { parseRemote } from './remote.ts';
import { sourceSchema } from './source.ts';

test.for([
  ['https://Example.com/owner/x.git', { transport: 'https', host: 'example.com', port: 443 }],
  ['https://example.com:8443/x', { transport: 'https', host: 'example.com', port: 8443 }],
  ['https://[::1]:8443/x', { transport: 'https', host: '::1', port: 8443 }],
  ['git@example.com:owner/x.git', { transport: 'ssh', host: 'example.com', port: 22, user: 'git' }],
  ['ssh://git@example.com:2222/x.git', { transport: 'ssh', host: 'example.com', port: 2222, user: 'git' }],
] as const)('%s is a remote', ([url, expected]) => {
  expect(parseRemote(url)).toMatchObject(expected);
});

test.for([
  'file:///etc',
  '/etc',
  'ext::sh -c touch% /tmp/x',
  'git://example.com/x',
  'http://example.com/x',
  'https://user:password@example.com/x',
  'https://token@example.com/x',
  'https://example.com/',
  'https://example.com/x?y',
  'https://example.com/x\n',
  'ssh://-oProxyCommand=x/x',
  'ssh://-oProxyCommand=x@example.com/x',
  'ssh://git:password@example.com/x',
  'ssh://example.com/x',
  '-oProxyCommand=x@example.com:x',
  'git@-oProxyCommand=x:x',
  'git@example.com:-x',
  'git@example.com:--upload-pack=x',
  '--upload-pack=x',
])('%j is not', (url) => {
  expect(parseRemote(url)).toBeTypeOf('string');
});

test('a git source has a path or a url, and credentials only with a url', () => {
  const url = 'https://example.com/x';
  const credentials = { secret: 'TOKEN' };
  expect(sourceSchema.safeParse({ type: 'git', url, credentials }).success).toBe(true);
  for (const wrong of [{}, { path: '/a', url }, { path: '/a', credentials }, { path: '/a', known_hosts: 'x' }])
    expect(sourceSchema.safeParse({ type: 'git', ...wrong }).success).toBe(false);
});
