import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, expect, test } from 'vitest';
import { git, githubToken, placesWith, projectDir, useGithubSystem } from '../harness/index.ts';

const used = useGithubSystem();
const { system } = used;
const { client } = system;

afterEach(() => {
  expect(used.github.violations).toEqual([]);
  used.github.before = () => undefined;
  used.github.tokens.set(githubToken, {});
});

const options = { provider: 'github' } as const;

test('a publish with a pull request pushes the reviewed commit alone, and names validators and decisions', async () => {
  const validators = [{ name: 'has two', command: 'grep -q two a.txt' }];
  const run = await used.changed('two\n', { title: 'Say two', validators, policy: { publish: 'hold' } });
  const planned = await client.previewPublish(run.id, { pull_request: options });
  expect(planned.target).toMatchObject({
    pull_request: {
      provider: 'github',
      api: used.github.api,
      repository: 'owner/project',
      base: 'main',
      title: 'Say two',
      secret: 'GIT_TOKEN',
    },
  });
  expect(used.github.calls).toEqual([]);
  const parked = await client.publish(run.id, { pull_request: options });
  expect(parked.status).toBe('parked');
  expect(used.github.calls).toEqual([]);
  expect(await git(used.bare, 'branch', '--list', 'holdpoint/*')).toBe('');
  const approval = await client.getApproval(parked.approval_id ?? '');
  await client.decideApproval(approval.id, { decision: 'approve', action_digest: approval.action_digest });
  await expect.poll(async () => (await client.getRun(run.id)).publication.status).toBe('published');
  const { published } = (await client.getRun(run.id)).publication;
  const [pull] = used.github.pulls;
  const commit = await git(used.bare, 'rev-parse', `holdpoint/${run.id}`);
  expect(published).toMatchObject({
    commit,
    pull_request: { number: 1, url: pull?.html_url, repository: 'owner/project' },
  });
  expect(pull).toMatchObject({
    title: 'Say two',
    head: { ref: `holdpoint/${run.id}`, sha: commit },
    base: { ref: 'main' },
  });
  for (const told of [
    'passed: `grep -q two a.txt`',
    approval.action_digest,
    `(https://holdpoint.example.org/runs/${run.id})`,
  ]) {
    expect(pull?.body).toContain(told);
  }
  expect(await git(used.bare, 'diff', '--name-only', 'main', `holdpoint/${run.id}`)).toBe('a.txt');

  // The same request again is done already; another title updates the same pull request.
  await client.publish(run.id, { pull_request: options });
  await client.publish(run.id);
  expect(used.github.pulls).toHaveLength(1);
  const again = await client.publish(run.id, { pull_request: { ...options, title: 'Say it better' } });
  expect(again.status).toBe('parked');
  const second = await client.getApproval(again.approval_id ?? '');
  expect(second.action_digest).not.toBe(approval.action_digest);
  await client.decideApproval(second.id, { decision: 'approve', action_digest: second.action_digest });
  await expect.poll(() => used.github.pulls[0]?.title).toBe('Say it better');
  await expect.poll(async () => (await client.getRun(run.id)).publication.status).toBe('published');
  expect(used.github.pulls).toHaveLength(1);
  expect(await git(used.bare, 'rev-parse', `holdpoint/${run.id}`)).toBe(commit);
});

test('a revoked token fails the publish before the push, and says what to do; then the same publish succeeds', async () => {
  const run = await used.changed('three\n');
  used.github.before = ({ path }) =>
    path === '/repos/owner/project' ? { status: 401, body: { message: 'Bad credentials' } } : undefined;
  const refused = await client.publish(run.id, { pull_request: options }).catch((error: unknown) => error);
  expect(refused).toMatchObject({ code: 'publish_failed', message: expect.stringContaining('Bad credentials') });
  expect((await client.getRun(run.id)).publication.reason).toMatchObject({
    ...{ code: 'EPULLREQUESTTOKEN', next: expect.stringContaining('secrets set') },
  });
  expect(await git(used.bare, 'branch', '--list', `holdpoint/${run.id}`)).toBe('');
  used.github.before = () => undefined;
  expect(await client.publish(run.id, { pull_request: options })).toMatchObject({ status: 'published' });
});

test('a right that is missing after the push leaves no pull request, says that the branch is there, and is repaired by publishing again', async () => {
  const run = await used.changed('four\n');
  const before = used.github.pulls.length;
  used.github.tokens.set(githubToken, { statuses: false });
  await expect(client.publish(run.id, { pull_request: options })).rejects.toMatchObject({
    ...{ code: 'publish_failed', message: expect.stringContaining(`The branch holdpoint/${run.id} was pushed`) },
  });
  const commit = await git(used.bare, 'rev-parse', `holdpoint/${run.id}`);
  expect(used.github.pulls).toHaveLength(before);
  used.github.tokens.set(githubToken, {});
  expect(await client.publish(run.id, { pull_request: options })).toMatchObject({ published: { commit } });
  expect(used.github.pulls).toHaveLength(before + 1);
});

test('bad input is 422 with the field, and nothing is recorded', async () => {
  const run = await used.changed('five\n');
  const { last_seq } = (await client.getRun(run.id)) as unknown as { last_seq: number };
  const cases: [object, string][] = [
    [{}, '/pull_request/provider'],
    [{ provider: 'gitea' }, '/pull_request/provider'],
    [{ ...options, api: `https://ann:pw@localhost:${used.github.port}/api/v3` }, '/pull_request/api'],
    [{ ...options, api: `http://localhost:${used.github.port}/api/v3` }, '/pull_request/api'],
    [{ ...options, api: 'https://10.0.0.1/api/v3' }, '/pull_request/api'],
    [{ ...options, api: 'https://evil.example/api/v3' }, '/pull_request/api'],
    [{ ...options, api: `https://localhost:${used.github.port}/api/v3?x=1` }, '/pull_request/api'],
    [{ ...options, api: 'file:///etc/passwd' }, '/pull_request/api'],
    [{ ...options, secret: 'NO_SUCH' }, '/pull_request/secret'],
    [{ ...options, title: 'a\u202Eb' }, '/pull_request/title'],
    [{ ...options, title: 'a\nb' }, '/pull_request/title'],
    [{ ...options, base: 'a\u0000' }, '/pull_request/base'],
    [{ ...options, more: 1 }, '/pull_request/more'],
  ];
  for (const [pull_request, pointer] of cases) {
    for (const path of ['publish', 'publish/dry-run']) {
      const response = await fetch(`${system.api.url()}/v1/runs/${run.id}/${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${system.key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ pull_request }),
      });
      const { errors } = (await response.json()) as { errors?: { pointer: string }[] };
      expect([response.status, errors?.[0]?.pointer], JSON.stringify(pull_request)).toEqual([422, pointer]);
    }
  }
  const after = (await client.getRun(run.id)) as unknown as { last_seq: number; publication: { status: string } };
  expect(after.publication.status).toBe('none');
  expect(after.last_seq).toBe(last_seq);
});

test('a run of a directory has no pull requests', async () => {
  const path = await system.directoryWith({ 'a.txt': 'one\n' });
  const run = await used.changed('two\n', { workspace: { source: { type: 'directory', path } } });
  await expect(client.publish(run.id, { pull_request: options })).rejects.toMatchObject({ status: 422 });
});

test('the command opens it, prints its address, and has no option of it without it', async () => {
  const run = await used.changed('six\n', { title: 'Say six' });
  const before = used.github.pulls.length;
  const cli = (...args: string[]) =>
    promisify(execFile)(
      process.execPath,
      [join(projectDir, 'apps/cli/src/main.ts'), 'runs', 'publish', run.id, ...args],
      {
        env: {
          ...process.env,
          HOLDPOINT_URL: system.api.url(),
          HOLDPOINT_KEY: system.key,
          HOLDPOINT_DATA: system.dataDir,
        },
      },
    );
  await expect(cli('--yes', '--draft')).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--pull-request'),
  });
  const dry = await cli('--pull-request', '--provider', 'github', '--dry-run');
  expect(dry.stdout).toContain('pull request "Say six" into main of owner/project');
  expect(used.github.pulls).toHaveLength(before);
  const done = await cli('--pull-request', 'Say 6', '--provider', 'github', '--draft', '--yes', '--json');
  const pull = used.github.pulls[before];
  expect(JSON.parse(done.stdout)).toMatchObject({
    status: 'published',
    published: { pull_request: { url: pull?.html_url } },
  });
  expect(pull).toMatchObject({ title: 'Say 6', draft: true });
});

test('the token is in no file of the system', async () => {
  expect(await placesWith(system, [githubToken])).toEqual([]);
});
