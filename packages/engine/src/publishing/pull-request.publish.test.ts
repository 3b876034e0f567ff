import type { PublishPlan, PullRequestTarget } from '@holdpoint/contract';
import { expect, test } from 'vitest';
import { requestPublication, submitRun } from '../commands/index.ts';
import type { PullRequestPort } from '../ports/index.ts';
import { quietHost } from '../pull-requests/testing/code-host.ts';
import { listSteps } from '../queries/index.ts';
import { approveFirst } from '../testing/decide.ts';
import { deliverAll, inMemoryWorker, specOf } from '../testing/index.ts';
import { soundLog } from '../testing/sound-log.ts';
import { useTestEngine } from '../testing/use-test-engine.ts';

const engine = useTestEngine();

const pull_request: PullRequestTarget = {
  ...{ provider: 'github', api: 'https://api.github.com', repository: 'owner/project' },
  ...{ secret: 'TOKEN', title: 'Do it', base: 'main' },
};
const made = {
  provider: 'github',
  repository: 'owner/project',
  number: 7,
  url: 'https://github.com/owner/project/pull/7',
} as const;
const commit = 'c'.repeat(40);
const branch = 'refs/heads/holdpoint/run';

/** A worker whose source is a branch, and a code host that notes its calls. */
function opening(host: Partial<PullRequestPort> = {}) {
  const worker = inMemoryWorker(engine);
  const calls: string[] = [];
  const reports: Parameters<PullRequestPort['open']>[0][] = [];
  const target: Extract<PublishPlan['target'], { type: 'git' }> = {
    ...{ type: 'git', path: 'https://github.com/owner/project', branch, from: null, commit, how: 'create' },
    ...{ message: 'm', author: { name: 'a', email: 'a@example.org' } },
  };
  const { workspaces } = worker.deps;
  const deps: typeof worker.deps = {
    ...worker.deps,
    workspaces: {
      ...workspaces,
      async planPublish(call) {
        const planned = await workspaces.planPublish(call);
        return { ...planned, plan: { ...planned.plan, target } satisfies PublishPlan };
      },
      async publish(call) {
        calls.push('push');
        await workspaces.publish(call);
        return { status: 'published', published: { type: 'git', path: target.path, branch, commit, left_out: [] } };
      },
    },
    pullRequests: {
      async check(call) {
        calls.push('check');
        await host.check?.(call);
      },
      async open(call) {
        calls.push('open');
        reports.push(call);
        return (await host.open?.(call)) ?? made;
      },
      ...quietHost,
    },
  };
  return { deps, calls, reports };
}

async function published(
  { deps }: ReturnType<typeof opening>,
  more: Parameters<typeof specOf>[1] = {},
): Promise<string> {
  const { runId } = await submitRun(deps, {
    spec: specOf([[{ name: 'a', args: { effect: 'workspace' } }]], more),
    by: 'test',
  });
  await deliverAll(deps);
  await requestPublication(deps, runId, { by: 'ann', pull_request });
  await deliverAll(deps);
  return runId;
}

const runOf = async (runId: string) => (await listSteps(engine.deps, runId)).run;
const failure = (code: string, retryable: boolean) =>
  Object.assign(new Error('the host says no'), { code, retryable, next: 'Do that.' });

test('a publish asks the code host before the push and opens the pull request after it, with the facts of the run', async () => {
  const worker = opening();
  const runId = await published(worker, { validators: ['0'] });
  expect(worker.calls).toEqual(['check', 'push', 'open']);
  const [call] = worker.reports;
  expect(call).toMatchObject({
    ...{ runId, branch, commit, target: pull_request, scope: { tenant: 'default' } },
    report: { message: expect.stringMatching(/./), validators: [{ status: 'passed' }], decisions: [], decided: 0 },
  });
  expect(await runOf(runId)).toMatchObject({
    publication: 'published',
    publication_detail: { published: { pull_request: made } },
  });
  await soundLog(worker.deps, runId);
});

test('a publish that waits for a decision asks no code host, and then names who decided', async () => {
  const worker = opening();
  const runId = await published(worker, { policy: { publish: 'hold' } });
  expect(worker.calls).toEqual([]);
  await approveFirst(worker.deps, runId);
  await deliverAll(worker.deps);
  expect(worker.reports[0]?.report).toMatchObject({
    decided: 1,
    decisions: [{ decision: 'approve', by: 'ann', digest: expect.any(String) }],
  });
});

test('a code host that refuses before the push keeps everything from the source', async () => {
  const worker = opening({ check: () => Promise.reject(failure('EPULLREQUESTTOKEN', false)) });
  const runId = await published(worker);
  expect(worker.calls).toEqual(['check']);
  expect(await runOf(runId)).toMatchObject({
    ...{
      publication: 'failed',
      publication_detail: { reason: { code: 'EPULLREQUESTTOKEN', message: 'the host says no', next: 'Do that.' } },
    },
  });
});

test('a refusal after the push says that the branch is there; publishing again opens the pull request', async () => {
  let refuses = true;
  const worker = opening({ open: async () => (refuses ? Promise.reject(failure('EPULLREQUESTRIGHT', false)) : made) });
  const runId = await published(worker);
  const { publication_detail: detail } = await runOf(runId);
  expect(detail?.reason).toMatchObject({
    code: 'EPULLREQUESTRIGHT',
    message: expect.stringContaining('The branch holdpoint/run was pushed'),
  });
  expect(detail?.reason?.next).toMatch(/^Do that\. Then publish again/);
  refuses = false;
  await requestPublication(worker.deps, runId, { by: 'ann', pull_request });
  await deliverAll(worker.deps);
  expect((await runOf(runId)).publication).toBe('published');
});

test('the same publish is done once; another title is another publish', async () => {
  const worker = opening();
  const runId = await published(worker);
  for (const again of [{ pull_request }, {}]) {
    await requestPublication(worker.deps, runId, { by: 'ann', ...again });
    await deliverAll(worker.deps);
  }
  expect(worker.reports).toHaveLength(1);
  await requestPublication(worker.deps, runId, { by: 'ann', pull_request: { ...pull_request, title: 'Better' } });
  await deliverAll(worker.deps);
  expect(worker.reports.map(({ target }) => target.title)).toEqual(['Do it', 'Better']);
});

test('a worker without a way to code hosts pushes nothing', async () => {
  const worker = opening();
  const runId = await published({ ...worker, deps: { ...worker.deps, pullRequests: undefined } });
  expect(worker.calls).toEqual([]);
  expect((await runOf(runId)).publication_detail?.reason).toMatchObject({ code: 'EPULLREQUESTOFF' });
});
