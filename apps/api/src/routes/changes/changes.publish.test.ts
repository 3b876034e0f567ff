import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { publishPlanSchema } from '@holdpoint/contract';
import type { Approval, CreateRun, ProblemDetails } from '@holdpoint/contract/wire';
import { openWorkspaces } from '@holdpoint/workspace';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { contentOf, problemOf, startTestApi, type TestApi } from '../../testing/test-api.ts';
import { type TestWorker, testWorker } from '../../testing/test-worker.ts';

const run = promisify(execFile);
let api: TestApi;
let worker: TestWorker;
let source: string;
beforeAll(async () => {
  api = await startTestApi();
  worker = testWorker(api.engine, api.dataDir);
});
afterAll(() => api.stop());
beforeEach(async () => {
  source = await mkdtemp(join(tmpdir(), 'hp-source-'));
  await writeFile(join(source, 'kept.txt'), 'one\ntwo\nthree\n');
  await git('init', '-q', '-b', 'main');
  await commit('first');
});
afterEach(() => rm(source, { recursive: true, force: true }));

const who = ['-c', 'user.name=Test', '-c', 'user.email=test@example.org', '-c', 'commit.gpgsign=false'];
const git = async (...args: string[]) => (await run('git', [...who, ...args], { cwd: source })).stdout.trim();
async function commit(message: string): Promise<string> {
  await git('add', '-A');
  await git('commit', '-qm', message);
  return git('rev-parse', 'HEAD');
}
const write = (path: string, content: string) => ({ tool: 'write_file', args: { path, content } });
const read = (path: string) => readFile(join(source, path), 'utf8');

/** A run that succeeded: it changed a file and then made another. */
async function endedRun(more: Partial<CreateRun> & { from?: 'git' | 'directory' } = {}): Promise<string> {
  const { from = 'git', ...rest } = more;
  const groups = [{ steps: [write('kept.txt', 'one\n2\nthree\n')] }, { steps: [write('made.txt', 'new\n')] }];
  const workspace = { source: { type: from, path: source } } as const;
  const { id } = (await api.client.createRun({ plan: { groups }, workspace, title: 'Two files', ...rest })).run;
  await worker.drive(id);
  return id;
}

/** Asks for a publish, and has the worker see to it. */
async function publish(id: string, body: object = {}): Promise<Response> {
  const answer = api.post(`/v1/runs/${id}/publish`, body);
  // To a branch it is asked for once it was planned, which takes git seconds on a busy machine.
  const requested = async () => expect((await api.client.getRun(id)).publication.status).toBe('requested');
  await vi.waitFor(requested, { timeout: 20_000 });
  await worker.tend(id);
  return answer;
}

describe('a dry run', () => {
  test('shows what would change, and changes nothing', async () => {
    const id = await endedRun({ validators: [{ command: 'true' }], policy: { publish: 'hold' } });
    const head = await git('rev-parse', 'HEAD');
    const before = await contentOf(api.engine);
    const wish = { branch: 'feature/x', message: 'Words', author: { name: 'A', email: 'a@example.org' } };
    expect(await api.client.previewPublish(id, wish)).toMatchObject({
      run_id: id,
      target: { type: 'git', branch: 'refs/heads/feature/x', from: null, how: 'create', ...{ message: 'Words' } },
      files: [
        { path: 'kept.txt', status: 'modified' },
        { path: 'made.txt', status: 'added' },
      ],
      conflicts: [],
      validators: ['true'],
      needs_approval: true,
      digest: expect.stringMatching(/^sha256:/),
    });
    expect(await contentOf(api.engine)).toEqual(before);
    expect(await git('for-each-ref', '--format=%(objectname) %(refname)')).toBe(`${head} refs/heads/main`);
  });

  test('shows the three versions of a file in conflict', async () => {
    const id = await endedRun({ from: 'directory' });
    await writeFile(join(source, 'kept.txt'), 'mine\n');
    const { conflicts, files } = await api.client.previewPublish(id);
    expect(conflicts).toMatchObject([
      {
        path: 'kept.txt',
        reason: 'changed_in_source',
        versions: {
          base: { text: 'one\ntwo\nthree\n' },
          source: { text: 'mine\n' },
          run: { text: 'one\n2\nthree\n' },
        },
      },
    ]);
    expect(await api.client.previewPublish(id)).toMatchObject({ conflicts, files });
  });
});

describe('the API process writes nothing into a workspace', () => {
  /** Every file of a run's folder with a digest of its content. */
  async function folderOf(id: string): Promise<string[]> {
    const { stdout } = await run('bash', ['-c', 'find . -type f -exec sha256sum {} + | sort'], {
      cwd: join(api.dataDir, 'runs', id),
    });
    return stdout.split('\n');
  }

  /** A branch with a commit of its own, so that a publish to it is a merge. */
  async function movedBranch(): Promise<void> {
    await git('checkout', '-q', '-b', 'moved');
    await writeFile(join(source, 'other.txt'), 'theirs\n');
    await commit('theirs');
    await git('checkout', '-q', 'main');
  }

  test('when a publish names a branch', async () => {
    const id = await endedRun();
    await movedBranch();
    const before = await folderOf(id);
    const answer = api.post(`/v1/runs/${id}/publish`, { branch: 'moved' });
    const requested = async () => expect((await api.client.getRun(id)).publication.status).toBe('requested');
    await vi.waitFor(requested, { timeout: 20_000 });
    expect(await folderOf(id)).toEqual(before);
    await worker.tend(id);
    expect((await answer).status).toBe(200);
  });

  test('in a dry run of a merge', async () => {
    const id = await endedRun();
    await movedBranch();
    const before = await folderOf(id);
    const plan = await api.client.previewPublish(id, { branch: 'moved' });
    expect([plan.target, plan.files.length]).toMatchObject([{ how: 'merge' }, 2]);
    expect(await folderOf(id)).toEqual(before);
    // The worker makes the same plan in the shadow repository.
    const snapshot = (await api.client.getRun(id)).workspace.snapshot ?? '';
    const target = { branch: 'moved', message: 'Two files' };
    expect((await worker.workspaces.planPublish({ runId: id, snapshot, target })).digest).toBe(plan.digest);
    expect(await folderOf(id)).not.toEqual(before);
  });

  test('in a dry run after a publish that was interrupted', async () => {
    const id = await endedRun({ from: 'directory' });
    await interruptPublish(id);
    const before = [await folderOf(id), await read('kept.txt')];
    const problem = await problemOf(await api.post(`/v1/runs/${id}/publish/dry-run`, {}));
    expect(problem).toMatchObject({ code: 'source_busy', status: 503 });
    expect([await folderOf(id), await read('kept.txt')]).toEqual(before);
    expect((await publish(id)).status).toBe(200);
    expect(await read('kept.txt')).toBe('one\n2\nthree\n');
  });

  /** As when a worker dies behind the commit point: its journal is on disk, and no file is written. */
  async function interruptPublish(runId: string): Promise<void> {
    const onPoint = (point: string): void => {
      if (point === 'publish.committed') throw new Error('interrupted');
    };
    const { dataDir } = api;
    const workspaces = openWorkspaces({ dataDir, onPoint, allocateOwner: () => ({ uid: 0, gid: 0 }) });
    const snapshot = (await api.client.getRun(runId)).workspace.snapshot ?? '';
    const request = { runId, snapshot, target: { message: 'Two files' } };
    const { digest } = await workspaces.planPublish(request);
    await expect(workspaces.publish({ ...request, expect: digest })).rejects.toThrow('interrupted');
  }
});

test('to publish to a branch makes that branch, with the words and the author that were given', async () => {
  const id = await endedRun();
  const author = { name: 'Ada', email: 'ada@example.org' };
  const response = await publish(id, { branch: 'feature/x', message: 'In my words', author });
  expect([response.status, await response.json()]).toMatchObject([
    200,
    {
      status: 'published',
      published: { type: 'git', branch: 'refs/heads/feature/x' },
      approval_id: null,
      reason: null,
    },
  ]);
  expect(await git('log', '-1', '--format=%an <%ae> %s', 'feature/x')).toBe('Ada <ada@example.org> In my words');
  expect(await git('show', 'feature/x:kept.txt')).toBe('one\n2\nthree');
  expect(await git('status', '--porcelain')).toBe('');
  expect((await api.client.publish(id, { branch: 'feature/x' })).status).toBe('published');
});

test('a change set may be published to another branch afterwards', async () => {
  const id = await endedRun();
  await publish(id);
  await publish(id, { branch: 'second' });
  const tree = await git('rev-parse', 'second^{tree}');
  expect(await git('rev-parse', `holdpoint/${id}^{tree}`)).toBe(tree);
});

describe('a publish is refused, and nothing is asked for,', () => {
  const cases: [string, () => Promise<string>, object, number, string, string?][] = [
    ['to what is no branch', () => endedRun(), { branch: 'no..branch' }, 422, 'branch_invalid', '/branch'],
    [
      'to a branch of a directory',
      () => endedRun({ from: 'directory' }),
      { branch: 'x' },
      422,
      'invalid_request',
      '/branch',
    ],
    ['with half an author', () => endedRun(), { author: { name: 'A' } }, 422, 'invalid_request', '/author/email'],
    [
      'of what began with nothing',
      () => endedRun({ workspace: { source: { type: 'empty' } } }),
      {},
      409,
      'not_publishable',
    ],
    ['of a run that has not ended', () => heldRun(), {}, 409, 'run_not_finished'],
  ];
  async function heldRun(): Promise<string> {
    return endedRun({ policy: { rules: [{ match: {}, action: 'hold' }] } });
  }

  test.each(cases)('%s', async (_name, make, body, status, code, pointer) => {
    const id = await make();
    const before = await contentOf(api.engine);
    for (const path of ['publish', 'publish/dry-run']) {
      const problem = await problemOf(await api.post(`/v1/runs/${id}/${path}`, body));
      expect(problem).toMatchObject({ status, code });
      if (pointer !== undefined) expect(problem.errors?.map((error) => error.pointer)).toContain(pointer);
    }
    expect(await contentOf(api.engine)).toEqual(before);
  });

  test('to another branch while one waits for a decision', async () => {
    const id = await endedRun({ policy: { publish: 'hold' } });
    await publish(id);
    const before = await contentOf(api.engine);
    await expect(api.client.publish(id, { branch: 'other' })).rejects.toMatchObject({
      code: 'publication_pending',
      status: 409,
    });
    expect(await contentOf(api.engine)).toEqual(before);
  });
});

describe('a publish that the policy holds', () => {
  async function held(): Promise<{ id: string; approval: Approval }> {
    const id = await endedRun({ policy: { publish: 'hold' } });
    const response = await publish(id, { message: 'Please' });
    const told = (await response.json()) as { approval_id: string };
    expect([response.status, told]).toMatchObject([202, { status: 'parked', published: null }]);
    expect(await git('branch', '--list')).toBe('* main');
    return { id, approval: await api.client.getApproval(told.approval_id) };
  }

  /** Refusals change nothing, so that one publish serves them all. */
  let waiting: Awaited<ReturnType<typeof held>> | undefined;

  test('waits with its plan, is approved, and then is done', async () => {
    const { id, approval } = await held();
    expect(approval).toMatchObject({
      run_id: id,
      step_id: null,
      kind: 'publish',
      action: { toolset: 'holdpoint', tool: 'publish', args: { message: 'Please' }, effect: 'external' },
      allowed_decisions: ['approve', 'reject'],
    });
    const plan = publishPlanSchema.parse(approval.preview);
    expect([plan.digest, plan.files.length]).toEqual([approval.action_digest, 2]);
    expect((await api.client.listApprovals({ run_id: id })).data).toEqual([approval]);
    expect((await api.client.listApprovals({ limit: 200 })).data.map(({ id: one }) => one)).toContain(approval.id);
    expect((await api.client.getRun(id)).publication).toMatchObject({ status: 'parked', approval_id: approval.id });
    const decision = { decision: 'approve', action_digest: approval.action_digest } as const;
    const decided = await api.client.decideApproval(approval.id, decision);
    expect(decided).toMatchObject({ status: 'approved', decision: { by: 'admin' } });
    await worker.tend(id);
    expect((await api.client.getRun(id)).publication.status).toBe('published');
    const { target } = plan;
    expect(await git('rev-parse', `holdpoint/${id}`)).toBe(target.type === 'git' ? target.commit : '');
    expect(await api.client.decideApproval(approval.id, decision)).toEqual(decided);
  });

  test('is followed until it is decided and done', async () => {
    const { id, approval } = await held();
    const seen: string[] = [];
    const following = (async () => {
      for await (const { type } of api.client.events(id)) seen.push(type);
    })();
    await vi.waitFor(() => expect(seen).toContain('approval.requested'));
    await api.client.decideApproval(approval.id, { decision: 'approve', action_digest: approval.action_digest });
    await worker.tend(id);
    await following;
    expect(seen.slice(-3)).toEqual(['approval.decided', 'workspace.publish_released', 'workspace.published']);
  });

  test('is rejected, says so, and may be asked for again', async () => {
    const { id, approval } = await held();
    const decision = { decision: 'reject', action_digest: approval.action_digest, message: 'not yet' } as const;
    await api.client.decideApproval(approval.id, decision);
    expect((await api.client.getRun(id)).publication).toMatchObject({
      status: 'rejected',
      reason: { code: 'publish_rejected', message: expect.stringContaining('not yet') },
      approval_id: null,
    });
    const again = await publish(id, { branch: 'other' });
    expect(again.status).toBe(202);
    // An approval of before shows what it was about.
    const [first] = (await api.client.listApprovals({ run_id: id, status: ['rejected'] })).data;
    expect(first?.action.args).toMatchObject({ branch: `refs/heads/holdpoint/${id}`, message: 'Please' });
  });

  test('is approved, but by then its branch is there: nothing is published', async () => {
    const { id, approval } = await held();
    const { action_digest } = approval;
    await api.client.decideApproval(approval.id, { decision: 'approve', action_digest });
    const answer = api.post(`/v1/runs/${id}/publish`, {});
    await git('branch', `holdpoint/${id}`);
    await worker.tend(id);
    expect(await problemOf(await answer)).toMatchObject({
      code: 'publish_conflict',
      status: 409,
      conflicts: [{ reason: 'branch_exists' }],
    });
    expect((await api.client.getRun(id)).publication).toMatchObject({ status: 'conflicted', approval_id: null });
  });

  test.each([
    ['another digest', { action_digest: `sha256:${'0'.repeat(64)}` }, 'action_changed', 409],
    ['edit', { decision: 'edit', args: { resolutions: [] } }, 'decision_not_allowed', 422],
    ['respond', { decision: 'respond', message: 'x' }, 'decision_not_allowed', 422],
    ['arguments', { args: {} }, 'invalid_decision', 422],
  ])('takes no decision with %s', async (_name, change, code, status) => {
    waiting ??= await held();
    const { approval } = waiting;
    const before = await contentOf(api.engine);
    const body = { decision: 'approve', action_digest: approval.action_digest, ...change };
    expect(await problemOf(await api.post(`/v1/approvals/${approval.id}/decision`, body))).toMatchObject({
      code,
      status,
    });
    expect(await contentOf(api.engine)).toEqual(before);
  });
});

describe('a publish over changes of the source', () => {
  async function conflicted(): Promise<{ id: string; problem: ProblemDetails; approval: Approval; seen: string }> {
    const id = await endedRun({ from: 'directory' });
    await writeFile(join(source, 'kept.txt'), 'mine\n');
    const problem = await problemOf(await publish(id));
    const approval = await api.client.getApproval(problem.approval_id ?? '');
    const [conflict] = publishPlanSchema.parse(approval.preview).conflicts;
    return { id, problem, approval, seen: conflict?.versions?.source?.oid ?? '' };
  }
  const edit = ({ id, action_digest }: Approval, resolutions: unknown) =>
    api.post(`/v1/approvals/${id}/decision`, { decision: 'edit', action_digest, args: { resolutions } });

  test('says what is in conflict, and which approval settles it', async () => {
    const { id, problem, approval } = await conflicted();
    expect(problem).toMatchObject({
      code: 'publish_conflict',
      status: 409,
      conflicts: [{ path: 'kept.txt', reason: 'changed_in_source' }],
      next: expect.stringContaining(approval.id),
    });
    expect(approval).toMatchObject({ kind: 'conflict', allowed_decisions: ['approve', 'edit', 'reject'] });
    expect((await api.client.getRun(id)).publication).toMatchObject({
      status: 'parked',
      conflicts: problem.conflicts,
      approval_id: approval.id,
    });
    expect(await read('kept.txt')).toBe('mine\n');
    await expect(api.client.publish(id)).rejects.toMatchObject({ approvalId: approval.id });
  });

  test('is settled file by file, and then is done', async () => {
    const { id, approval, seen } = await conflicted();
    const text = 'one, mine\n2\nthree\n';
    expect((await edit(approval, [{ path: 'kept.txt', take: 'text', text, seen }])).status).toBe(200);
    await worker.tend(id);
    expect((await api.client.getRun(id)).publication).toMatchObject({ status: 'published', conflicts: [] });
    expect([await read('kept.txt'), await read('made.txt')]).toEqual([text, 'new\n']);
  });

  test('is settled by lines, bound to the versions that were shown', async () => {
    const { id, approval, seen } = await conflicted();
    const path = 'kept.txt';
    const shown = await api.client.getConflict(approval.id, { path });
    expect(shown).toMatchObject({ approval_id: approval.id, action_digest: approval.action_digest, seen, hunks: 1 });
    expect(shown.data[0]).toMatchObject({ source: { text: 'mine\n' }, run: { text: 'one\n2\nthree\n' } });
    const before = await contentOf(api.engine);
    const lines = { path, take: 'run_lines', seen, digest: shown.digest };
    const stale = await problemOf(await edit(approval, [{ ...lines, digest: `sha256:${'0'.repeat(64)}` }]));
    expect(stale).toMatchObject({ code: 'action_changed', status: 409 });
    const wrong: [object, string][] = [
      [{ ...lines, take: 'hunks', hunks: [] }, '/args/resolutions/0/hunks'],
      [{ ...lines, hunks: [{ hunk: 2, take: 'run' }] }, '/args/resolutions/0/hunks/0/hunk'],
    ];
    for (const [resolution, pointer] of wrong) {
      const problem = await problemOf(await edit(approval, [resolution]));
      expect([problem.status, problem.errors?.[0]?.pointer]).toEqual([422, pointer]);
    }
    expect(await contentOf(api.engine)).toEqual(before);
    expect((await edit(approval, [{ ...lines, hunks: [{ hunk: 1, take: 'both' }] }])).status).toBe(200);
    await worker.tend(id);
    expect((await api.client.getRun(id)).publication).toMatchObject({ status: 'published', conflicts: [] });
    expect(await read(path)).toBe('mine\none\n2\nthree\n');
    await expect(api.client.getConflict(approval.id, { path: 'none' })).rejects.toMatchObject({
      code: 'invalid_request',
    });
  });

  test('is settled, but the source changes once more: that is another conflict', async () => {
    const { id, approval, seen } = await conflicted();
    await edit(approval, [{ path: 'kept.txt', take: 'run', seen }]);
    await writeFile(join(source, 'kept.txt'), 'mine again\n');
    await worker.tend(id);
    const { publication } = await api.client.getRun(id);
    expect(publication).toMatchObject({ status: 'parked' });
    expect(publication.approval_id).not.toBe(approval.id);
    expect(await read('kept.txt')).toBe('mine again\n');
  });

  test('is tried again when it is approved', async () => {
    const { id, approval } = await conflicted();
    await writeFile(join(source, 'kept.txt'), 'one\ntwo\nthree\n');
    const { action_digest } = approval;
    await api.client.decideApproval(approval.id, { decision: 'approve', action_digest });
    await worker.tend(id);
    expect((await api.client.getRun(id)).publication.status).toBe('published');
  });

  const resolved = { path: 'kept.txt', take: 'run' };
  const cases: [string, (seen: string) => unknown, string][] = [
    ['no resolutions', () => undefined, '/args/resolutions'],
    ['something else', () => 'run', '/args/resolutions'],
    ['none of them', () => [], '/args/resolutions'],
    ['a version there is not', (seen) => [{ ...resolved, take: 'mine', seen }], '/args/resolutions/0/take'],
    ['no word of what was seen', () => [resolved], '/args/resolutions/0/seen'],
    ['what was not shown', () => [{ ...resolved, seen: 'f'.repeat(40) }], '/args/resolutions/0/seen'],
    ['nothing seen', () => [{ ...resolved, seen: null }], '/args/resolutions/0/seen'],
    ['text without a text', (seen) => [{ ...resolved, take: 'text', seen }], '/args/resolutions/0/text'],
    [
      'a path that is in no conflict',
      (seen) => [
        { ...resolved, seen },
        { ...resolved, path: 'made.txt', seen },
      ],
      '/args/resolutions/1/path',
    ],
    [
      'a path twice',
      (seen) => [
        { ...resolved, seen },
        { ...resolved, take: 'source', seen },
      ],
      '/args/resolutions/1/path',
    ],
  ];
  /** Refusals change nothing, so that one conflict serves them all. */
  let refusing: Awaited<ReturnType<typeof conflicted>> | undefined;
  test.each(cases)('is not settled with %s', async (_name, resolutions, pointer) => {
    refusing ??= await conflicted();
    const { approval, seen } = refusing;
    const before = await contentOf(api.engine);
    const problem = await problemOf(await edit(approval, resolutions(seen)));
    expect(problem.status).toBe(422);
    expect(problem.errors?.map((error) => error.pointer)).toContain(pointer);
    expect(await contentOf(api.engine)).toEqual(before);
  });
});

describe('validators', () => {
  test('run on what is published before it is', async () => {
    const id = await endedRun({ validators: [{ name: 'has it', command: 'grep -c new made.txt' }] });
    await expect(api.client.getValidation(id)).rejects.toMatchObject({ code: 'not_validated', status: 404 });
    expect((await publish(id)).status).toBe(200);
    const { workspace } = await api.client.getRun(id);
    expect(await api.client.getValidation(id)).toMatchObject({
      run_id: id,
      snapshot: workspace.snapshot,
      passed: true,
      results: [{ name: 'has it', status: 'passed', exit_code: 0, stdout: '1\n' }],
    });
  });

  test('that fail end it, and the source is as it was', async () => {
    const validators = [{ command: 'true' }, { command: 'echo broken >&2; exit 3' }, { command: 'true' }];
    const id = await endedRun({ validators });
    const problem = await problemOf(await publish(id));
    expect(problem).toMatchObject({ code: 'validator_failed', status: 409 });
    expect(await git('branch', '--list')).toBe('* main');
    const { passed, results } = await api.client.getValidation(id);
    expect([passed, results.map(({ exit_code, stderr }) => [exit_code, stderr])]).toEqual([
      false,
      [
        [0, ''],
        [3, 'broken\n'],
      ],
    ]);
    expect((await api.client.getRun(id)).publication).toMatchObject({
      status: 'failed',
      reason: { code: 'validator_failed' },
    });
  });
});
