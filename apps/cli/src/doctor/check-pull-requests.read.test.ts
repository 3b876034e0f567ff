import { expect, test } from 'vitest';
import { checkPullRequests } from './check-pull-requests.ts';

test.each([
  [['*'], 'ok'],
  [['none.example'], 'ok'],
  [['github.com', 'api.github.com'], 'ok'],
  [['github.com', '*.github.com'], 'ok'],
  [['github.com'], 'warn'],
  [['github.com:443'], 'warn'],
  [['acme.ghe.com'], 'warn'],
  [['acme.ghe.com', 'api.acme.ghe.com:443'], 'ok'],
  [[], 'ok'],
])('the open hosts %j are %s for pull requests', (hosts, level) => {
  const [finding] = checkPullRequests(hosts);
  expect(finding?.level).toBe(level);
  if (level === 'warn') expect(finding?.next).toMatch(/Add api\.\S+ to HOLDPOINT_GIT_HOSTS/);
});
