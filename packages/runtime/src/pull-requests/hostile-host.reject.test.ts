import { createServer } from 'node:https';
import { listen, stop } from '@holdpoint/egress/testing';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Instead } from '../testing/github/calls.ts';
import { openedPulls, report, token } from '../testing/github/opened-pulls.ts';
import { openPullRequests } from './open-pull-requests.ts';

let opened: Awaited<ReturnType<typeof openedPulls>>;
beforeAll(async () => {
  opened = await openedPulls();
});
afterAll(() => opened[Symbol.asyncDispose]());
afterEach(() => {
  opened.github.before = () => undefined;
  opened.github.tokens.set(token, {});
});

/** Tries both halves of a publish. @returns the error of the first that fails */
async function tried(call: Parameters<typeof opened.pullRequests.check>[0], deps = opened.pullRequests) {
  try {
    await deps.check(call);
    await deps.open({ ...call, report: report() });
    return undefined;
  } catch (error) {
    expect(String(error) + JSON.stringify(error)).not.toContain(token);
    return error as { code: string; message: string; next: string; retryable: boolean };
  }
}

test('a revoked token, a missing right and an unknown base are refused before anything is written', async () => {
  const { push, call } = opened.start();
  const commit = push('two\n');
  const writes = () => opened.github.calls.filter(({ method }) => method !== 'GET').length;
  const before = writes();
  opened.github.tokens.delete(token);
  expect(await tried(call(commit))).toMatchObject({
    code: 'EPULLREQUESTTOKEN',
    next: expect.stringContaining('new token'),
  });
  opened.github.tokens.set(token, { push: false });
  expect(await tried(call(commit))).toMatchObject({ code: 'EPULLREQUESTRIGHT' });
  opened.github.tokens.set(token, {});
  const target = { ...call(commit).target, base: 'no/such' };
  expect(await tried({ ...call(commit), target })).toMatchObject({ code: 'EPULLREQUESTBASE' });
  const missing = { ...call(commit).target, repository: 'owner/other' };
  expect(await tried({ ...call(commit), target: missing })).toMatchObject({ code: 'EPULLREQUESTMISSING' });
  const itself = { ...call(commit), branch: 'refs/heads/main' };
  expect(await tried(itself)).toMatchObject({ code: 'EPULLREQUESTBASE' });
  expect(writes()).toBe(before);
});

test('without the right to mark commits no pull request appears, and without the right to pull requests none', async () => {
  const { push, call, pulls } = opened.start();
  const commit = push('two\n');
  opened.github.tokens.set(token, { statuses: false });
  expect(await tried(call(commit))).toMatchObject({
    code: 'EPULLREQUESTRIGHT',
    next: expect.stringContaining('commit statuses'),
  });
  expect(pulls()).toEqual([]);
  opened.github.tokens.set(token, { pulls: false });
  expect(await tried(call(commit))).toMatchObject({ code: 'EPULLREQUESTRIGHT' });
  opened.github.tokens.set(token, {});
  expect(await tried(call(commit))).toBeUndefined();
  expect(pulls()).toHaveLength(1);
});

test('a pull request of another person, of a fork, or with a marker further down is never changed', async () => {
  const { push, call, pulls, runId, target } = opened.start();
  const commit = push('two\n');
  const at = {
    ...{ state: 'open' as const, merged_at: null, title: 'Theirs', draft: false, base: { ref: 'main' } },
    html_url: `https://localhost/${target.repository}/pull/90`,
  };
  const marker = `<!-- holdpoint:${runId} -->`;
  const head = { ref: `holdpoint/${runId}`, sha: commit, repo: { full_name: 'mallory/fork' } };
  opened.github.pulls.push({ ...at, number: 90, body: `${marker}\nfork`, head });
  // A host that ignores the filter of the question.
  opened.github.before = ({ method, path }) =>
    method === 'GET' && path.endsWith('/pulls') ? { status: 200, body: opened.github.pulls } : undefined;
  expect(await tried(call(commit))).toBeUndefined();
  expect(pulls().map(({ title }) => title)).toEqual(['Theirs', 'Do it']);
  opened.github.before = () => undefined;

  const other = opened.start();
  const second = other.push('two\n');
  const own = { ref: `holdpoint/${other.runId}`, sha: second, repo: { full_name: other.target.repository } };
  opened.github.pulls.push({ ...at, number: 91, body: `mine\n<!-- holdpoint:${other.runId} -->`, head: own });
  expect(await tried(other.call(second))).toMatchObject({ code: 'EPULLREQUESTFOREIGN' });
  expect(opened.github.pulls.find(({ number }) => number === 91)).toMatchObject({ title: 'Theirs' });
});

test('the token goes to the address of the API alone: no redirect, other host, private address or foreign certificate gets it', async () => {
  const seen: string[] = [];
  const elsewhere = createServer(opened.github.certificate, (request, response) => {
    seen.push(String(request.headers.authorization));
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  const port = await listen(elsewhere);
  const { push, call } = opened.start();
  const commit = push('two\n');
  for (const status of [301, 302, 307, 308]) {
    opened.github.before = () => ({ status, headers: { location: `https://localhost:${port}/` } });
    expect(await tried(call(commit))).toMatchObject({ code: 'EPULLREQUESTMOVED', retryable: false });
  }
  // The repository has another name now: a followed POST would become a GET.
  opened.github.calls.length = 0;
  const moved = { status: 301, headers: { location: `${opened.github.api}/repositories/1` } };
  opened.github.before = () => (opened.github.calls.length === 1 ? moved : undefined);
  expect(await tried(call(commit))).toMatchObject({ code: 'EPULLREQUESTMOVED' });
  expect(opened.github.calls).toHaveLength(1);
  opened.github.before = () => undefined;
  const target = { ...call(commit).target, api: `https://localhost:${port}` };
  expect(await tried({ ...call(commit), target })).toMatchObject({ code: 'EPULLREQUESTADDRESS' });
  const closed = openPullRequests({ ...opened.deps, allowAddresses: [] });
  expect(await tried(call(commit), closed)).toMatchObject({ code: 'EPULLREQUESTADDRESS' });
  const strict = openPullRequests({ ...opened.deps, authorities: [] });
  expect(await tried(call(commit), strict)).toMatchObject({ code: 'EPULLREQUESTUNREACHABLE' });
  const plain = { ...call(commit).target, api: opened.github.api.replace('https', 'http') };
  expect(await tried({ ...call(commit), target: plain })).toMatchObject({ code: 'EPULLREQUESTADDRESS' });
  expect(seen).toEqual([]);
  expect(JSON.stringify(opened.logged)).not.toContain(token);
  await stop(elsewhere);
});

test('words of a host are cut, in one line and without secrets; what is no API is no answer', async () => {
  const { push, call } = opened.start();
  const commit = push('two\n');
  const hostile = `Bad ${token} another-secret-5678 \u001b[2J\u202E\n${'x'.repeat(5000)}`;
  opened.github.before = () => ({ status: 422, body: { message: hostile, errors: [{ message: token }, 'text'] } });
  const refused = await tried(call(commit));
  expect(refused?.message).toContain('Bad [secret GIT_TOKEN] [secret OTHER]');
  for (const hidden of ['\u001b', '\u202E', '\n']) expect(refused?.message).not.toContain(hidden);
  expect(refused?.message.length).toBeLessThan(500);
  const answers: Record<string, Instead[]> = {
    EPULLREQUESTANSWER: [
      { status: 200, body: '<html>' },
      { status: 200, body: { full_name: 1 } },
      { status: 200, body: 'x'.repeat(6e6) },
    ],
    EPULLREQUESTUNREACHABLE: [{ status: 500 }, { status: 502, body: '<html>' }],
    EPULLREQUESTBUSY: [
      { status: 429 },
      { status: 403, headers: { 'retry-after': '60' } },
      { status: 403, headers: { 'x-ratelimit-remaining': '0' } },
    ],
  };
  for (const [code, all] of Object.entries(answers)) {
    for (const one of all) {
      opened.github.before = () => one;
      expect(await tried(call(commit))).toMatchObject({ code, retryable: code !== 'EPULLREQUESTANSWER' });
    }
  }
});
