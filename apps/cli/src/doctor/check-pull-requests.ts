import type { Bounds } from '@holdpoint/contract/wire';
import { rootsFrom } from '@holdpoint/workspace/roots';
import { nameText } from '../output/index.ts';
import type { Config } from '../shell/index.ts';
import type { Finding } from './finding.ts';

const name = 'pull requests';

/** The hosts that the running API opens, or the ones of this environment. Undefined: the setting is wrong, and `checkBounds` says so. */
export function openHosts(
  { environment }: Pick<Config, 'environment'>,
  running: Pick<Bounds, 'git_hosts'> | undefined,
): readonly string[] | undefined {
  if (running?.git_hosts !== undefined) return running.git_hosts;
  try {
    return rootsFrom(environment).gitHosts ?? ['*'];
  } catch {
    return undefined;
  }
}

/** Whether the API of each opened code host can be asked: it is often another host than that of its repositories. */
export function checkPullRequests(hosts: readonly string[] | undefined): Finding[] {
  return hosts === undefined ? [] : [findingOf(hosts)];
}

function findingOf(hosts: readonly string[]): Finding {
  if (hosts.length === 0)
    return { name, level: 'ok', text: 'none: no remote repository is open (HOLDPOINT_GIT_HOSTS)' };
  const closed = hosts.flatMap((host) => apiOf(host) ?? []).filter((api) => !hosts.some((rule) => opens(rule, api)));
  if (closed.length > 0) {
    const [api = ''] = closed;
    return {
      ...{
        name,
        level: 'warn',
        text: `the API at ${nameText(api)} is not open, so no pull request is opened at its host`,
      },
      next: `Add ${api} to HOLDPOINT_GIT_HOSTS, for the API and all workers.`,
    };
  }
  return {
    name,
    level: 'ok',
    text: hosts.includes('*') ? 'at every public host' : `at ${hosts.map(nameText).join(', ')}`,
  };
}

/** The hosts whose API has a name of its own. */
function apiOf(rule: string): string | undefined {
  const host = rule.replace(/:443$/, '');
  if (host === 'github.com') return 'api.github.com';
  return /^[^*:]+\.ghe\.com$/.test(host) && !host.startsWith('api.') ? `api.${host}` : undefined;
}

function opens(rule: string, host: string): boolean {
  const plain = rule.replace(/:443$/, '');
  return plain === '*' || plain === host || (plain.startsWith('*.') && host.endsWith(plain.slice(1)));
}
