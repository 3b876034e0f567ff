import { type ApiCall, account } from '@holdpoint/runtime/testing/github';
import { afterAll, expect, test } from 'vitest';
import { type AppProcess, allowBash, finished, openModelServer, published, useGithubSystem } from '../harness/index.ts';

let lines = 0;
/** Writes a line into a.txt for each message, and ends. */
const server = await openModelServer(({ body }) => {
  if (body.lastIndexOf('"role":"tool"') > body.lastIndexOf('"role":"user"')) return { text: 'Done.' };
  lines += 1;
  return { calls: [{ tool: 'bash', args: { command: `echo line ${lines} >> a.txt` } }] };
});
afterAll(() => server[Symbol.asyncDispose]());
const used = useGithubSystem({
  workers: 0,
  env: () => ({
    ...{ HOLDPOINT_MODEL: 'openai-compatible/fake', OPENAI_COMPATIBLE_BASE_URL: `${server.url}/v1` },
    HOLDPOINT_SWEEP_MS: '500',
  }),
});
const { system } = used;
const { client } = system;
const pull_request = { provider: 'github' } as const;
/** Another worker misses the dead one by its lock. */
const within = { timeout: 120_000 };

/** Kills the worker at its first such call: before the call takes effect, or once it did. */
async function killedAt(worker: AppProcess, when: 'before' | 'after', isIt: (call: ApiCall) => boolean) {
  let killed = false;
  const { github } = used;
  const kill = async (): Promise<void> => {
    killed = true;
    await worker.signal('SIGKILL');
  };
  github.before = (call) => {
    if (killed || when === 'after' || !isIt(call)) return undefined;
    void kill();
    return { status: 503 };
  };
  github.after = async (call) => {
    if (!killed && when === 'after' && isIt(call)) await kill();
  };
  await expect.poll(() => killed, within).toBe(true);
}

const messagesOf = async (runId: string): Promise<string[]> => {
  const { data } = await client.listEvents(runId, { limit: 500 });
  return data.flatMap(({ type, data: said }) => (type === 'message.received' ? [(said as { text: string }).text] : []));
};

test.each(['before', 'after'] as const)(
  'workers that are killed %s the question who wrote and the first answer pass on and answer each comment once',
  async (when) => {
    const { talk } = used.github;
    const first = await system.startWorker();
    const run = await used.changed('', { prompt: 'Begin.', policy: { rules: [allowBash] } });
    await client.publish(run.id, { pull_request });
    const { number = 0 } = used.github.pulls.at(-1) ?? {};
    const user = talk.permissions.get('ann')?.user ?? account(talk, 'ann', 'write');
    const line = { number, user, path: 'a.txt', line: 1, diff_hunk: '@@ -1 +1 @@\n-one\n+two' };
    const ids = [100 * number, 100 * number + 1];
    for (const id of ids) talk.comments.push({ ...line, id, body: `comment ${id}` });
    await client.lookAtPullRequest(run.id);
    await killedAt(first, when, ({ path }) => path.endsWith('/permission'));
    const second = await system.startWorker();
    await expect.poll(() => messagesOf(run.id), within).toHaveLength(1);
    await finished(client, run.id);
    const publishing = client.publish(run.id, { pull_request }).catch(() => undefined);
    await killedAt(second, when, ({ path }) => path.endsWith('/replies'));
    const third = await system.startWorker();
    await published(client, run.id);
    await publishing;
    await expect.poll(async () => (await client.getPullRequest(run.id)).answers, within).toBe(0);
    const answers = talk.comments.filter((one) => one.user === talk.self && one.number === number);
    expect(answers.map(({ in_reply_to_id }) => in_reply_to_id).toSorted()).toEqual(ids);
    const told = await messagesOf(run.id);
    for (const id of ids) expect(told.filter((text) => text.includes(`comment ${id}`))).toHaveLength(1);
    expect((await client.getPullRequest(run.id)).rounds.used).toBe(1);
    expect(used.github.violations).toEqual([]);
    await third.signal('SIGKILL');
  },
);
