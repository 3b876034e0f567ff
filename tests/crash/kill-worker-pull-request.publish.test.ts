import { expect, test } from 'vitest';
import { type AppProcess, git, published, useGithubSystem } from '../harness/index.ts';

const used = useGithubSystem({ workers: 0 });
const { system } = used;
const { client } = system;

/** The calls of a publish, in order: the check, the push, the statuses, the pull request. */
const moments = [
  'GET /repos/owner/project',
  'GET /repos/owner/project/branches/main',
  'GET /repos/owner/project/pulls',
  'POST git-receive-pack',
  'GET /repos/owner/project 2',
  'GET status',
  'POST statuses',
  'POST statuses 2',
  'GET /repos/owner/project/pulls 2',
  'POST /repos/owner/project/pulls',
] as const;

/** Names a call as `moments` does, with its number from the second time on. */
function counted() {
  const seen = new Map<string, number>();
  return (method: string, path: string): string => {
    const short = path.replace(/.*\/commits\/.*\/status$/, 'status').replace(/.*\/statuses\/.*/, 'statuses');
    const name = `${method} ${short.replace(/.*git-receive-pack$/, 'git-receive-pack')}`;
    const times = (seen.get(name) ?? 0) + 1;
    seen.set(name, times);
    return times === 1 ? name : `${name} ${times}`;
  };
}

/** Kills the worker at a moment of its first publish: before the call takes effect, or once it did. */
function killAt(worker: AppProcess, moment: string, when: 'before' | 'after'): { killed: () => boolean } {
  const name = counted();
  let killed = false;
  let current = '';
  const kill = async (): Promise<void> => {
    killed = true;
    await worker.signal('SIGKILL');
  };
  const { github } = used;
  github.before = ({ method, path }) => {
    current = killed ? '' : name(method, path);
    if (current !== moment || when === 'after') return undefined;
    void kill();
    return { status: 503 };
  };
  github.after = async () => {
    if (!killed && current === moment) await kill();
  };
  github.onRequest = ({ method = '', url = '' }) => {
    if (method === 'POST' && url.endsWith('/git-receive-pack') && name(method, url) === moment && !killed) void kill();
  };
  return { killed: () => killed };
}

test.each(moments)(
  'a worker that is killed at %s leaves one branch, one pull request and one status of each kind',
  async (moment) => {
    // Before a call is after the last one, unless it changes something.
    const isWrite = moment.startsWith('POST') && moment !== 'POST git-receive-pack';
    for (const when of isWrite ? (['before', 'after'] as const) : (['after'] as const)) {
      const first = await system.startWorker();
      const before = used.github.pulls.length;
      const run = await used.changed(`${moment} ${when}\n`);
      const kill = killAt(first, moment, when);
      const publishing = client.publish(run.id, { pull_request: { provider: 'github' } }).catch(() => undefined);
      await expect.poll(kill.killed).toBe(true);
      const second = await system.startWorker();
      const { publication } = await published(client, run.id);
      await publishing;
      const commit = await git(used.bare, 'rev-parse', `holdpoint/${run.id}`);
      const made = used.github.pulls.slice(before);
      expect(made).toMatchObject([{ head: { ref: `holdpoint/${run.id}`, sha: commit } }]);
      expect(publication.published).toMatchObject({ commit, pull_request: { number: made[0]?.number } });
      expect(await git(used.bare, 'rev-list', '--count', `main..holdpoint/${run.id}`)).toBe('1');
      const statuses = used.github.statuses.filter(({ sha }) => sha === commit).map(({ context }) => context);
      expect(statuses).toEqual(['holdpoint/validators', 'holdpoint/decisions']);
      await second.signal('SIGKILL');
    }
    expect(used.github.violations).toEqual([]);
  },
);
