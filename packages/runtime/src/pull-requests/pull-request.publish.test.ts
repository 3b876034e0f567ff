import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { openedPulls, report } from '../testing/github/opened-pulls.ts';

let opened: Awaited<ReturnType<typeof openedPulls>>;
beforeAll(async () => {
  opened = await openedPulls();
});
afterAll(() => opened[Symbol.asyncDispose]());
afterEach(() => {
  expect(opened.github.violations).toEqual([]);
  opened.github.before = () => undefined;
  opened.github.after = () => {};
});

const statusesOf = (repository: string) => opened.github.statuses.filter((one) => one.repository === repository);
const methods = () =>
  opened.github.calls.map(({ method, path }) => `${method} ${path.replace(/^\/repos\/owner\/r\d+/, '')}`);

test('a pushed branch gets statuses and then a pull request, with what is known about the change', async () => {
  const { push, call, pulls, runId, target } = opened.start({ draft: true });
  const commit = push('two\n');
  opened.github.calls.length = 0;
  await opened.pullRequests.check(call(commit));
  expect(methods().every((one) => one.startsWith('GET '))).toBe(true);
  const made = await opened.pullRequests.open({ ...call(commit), report: report() });
  const [pull] = pulls();
  expect(made).toEqual({
    provider: 'github',
    repository: call(commit).target.repository,
    number: pull?.number,
    url: pull?.html_url,
  });
  expect(pull).toMatchObject({ title: 'Do it', draft: true, base: { ref: 'main' }, head: { sha: commit } });
  for (const told of [
    'Repaired the parser.',
    'passed: `npm test` (1.2 s)',
    'approve by `ann`, `bob`',
    `sha256:${'a'.repeat(64)}`,
    runId,
    commit,
  ]) {
    expect(pull?.body).toContain(told);
  }
  expect(statusesOf(target.repository)).toMatchObject([
    { context: 'holdpoint/validators', state: 'success', description: '1 of 1 passed: unit' },
    { context: 'holdpoint/decisions', description: '1 decision: approve by ann, sha256:aaaaaaaaaaaaaaaa' },
  ]);
  const writes = methods().filter((one) => !one.startsWith('GET '));
  expect(writes).toEqual([`POST /statuses/${commit}`, `POST /statuses/${commit}`, 'POST /pulls']);
});

test('a call that was answered to a dead worker is found again: no second pull request and no second status', async () => {
  const { push, call, pulls, target } = opened.start();
  const commit = push('two\n');
  const lost: string[] = [];
  for (const path of [/\/statuses\//, /\/pulls$/]) {
    opened.github.after = ({ method, path: at }) => {
      if (method !== 'POST' || !path.test(at) || lost.includes(String(path))) return;
      lost.push(String(path));
      throw new Error('the answer was lost');
    };
    await expect(opened.pullRequests.open({ ...call(commit), report: report() })).rejects.toMatchObject({
      ...{ code: 'EPULLREQUESTUNREACHABLE', retryable: true },
    });
  }
  opened.github.violations.length = 0;
  opened.github.after = () => {};
  await opened.pullRequests.open({ ...call(commit), report: report() });
  await opened.pullRequests.open({ ...call(commit), report: report() });
  expect(pulls()).toHaveLength(1);
  expect(statusesOf(target.repository)).toHaveLength(2);
});

test('two workers at once open one', async () => {
  const { push, call, pulls } = opened.start();
  const commit = push('two\n');
  const both = Promise.withResolvers<void>();
  let asked = 0;
  // Both have looked before either opens.
  opened.github.after = ({ method, path }) => {
    if (method === 'GET' && path.endsWith('/pulls') && ++asked === 2) both.resolve();
    return method === 'GET' && path.endsWith('/pulls') ? both.promise : undefined;
  };
  const made = await Promise.all([1, 2].map(() => opened.pullRequests.open({ ...call(commit), report: report() })));
  expect(made[0]).toEqual(made[1]);
  expect(pulls()).toHaveLength(1);
});

test('a later publish updates title, text and base of the same one', async () => {
  const { push, call, pulls } = opened.start();
  await opened.pullRequests.open({ ...call(push('two\n')), report: report() });
  push('other\n', 'next');
  const second = call(push('three\n'));
  const target = { ...second.target, title: 'Do it better', base: 'next' };
  await opened.pullRequests.check({ ...second, target });
  await opened.pullRequests.open({ ...second, target, report: report({ message: 'Once more.' }) });
  expect(pulls()).toMatchObject([
    { title: 'Do it better', base: { ref: 'next' }, body: expect.stringContaining('Once more.') },
  ]);
});

test('a merged or closed one is not opened again, and is refused before anything is pushed', async () => {
  for (const merged_at of [null, '2026-11-30T10:00:00Z']) {
    const { push, call, pulls } = opened.start();
    const commit = push('two\n');
    await opened.pullRequests.open({ ...call(commit), report: report() });
    Object.assign(pulls()[0] ?? {}, { state: 'closed', merged_at });
    // The worker died before it recorded the pull request: the same commit is done.
    await opened.pullRequests.check(call(commit));
    expect(await opened.pullRequests.open({ ...call(commit), report: report() })).toMatchObject({
      number: pulls()[0]?.number,
    });
    const next = call('f'.repeat(40));
    await expect(opened.pullRequests.check(next)).rejects.toMatchObject({
      ...{ code: 'EPULLREQUESTOVER', message: expect.stringContaining(merged_at === null ? 'closed' : 'merged') },
    });
    expect(pulls()).toHaveLength(1);
  }
});

test('a text of a model mentions no one, closes nothing, and passes for no other run', async () => {
  const { push, call, pulls } = opened.start();
  const message = [
    '<!-- holdpoint:run_other -->',
    '@everyone fixes #1, closes https://github.com/o/r/issues/1 <img src="https://evil.example/x.png">',
    '````\n@ann\n```',
    'hidden \u202Etxet\u202C \u0007',
  ].join('\n');
  const validators = report().validators.map((one) => ({ ...one, command: 'echo `@bob` <b>\n- forged: line' }));
  const decisions = report().decisions.map((one) => ({ ...one, by: '@carol` fixes #2' }));
  await opened.pullRequests.open({ ...call(push('two\n')), report: report({ message, validators, decisions }) });
  const [pull] = pulls();
  const outside = withoutCode(pull?.body ?? '');
  expect(outside).not.toMatch(/@|#\d|<(?!!-- holdpoint:run_\d+ -->)|evil|closes|forged/);
  for (const hidden of ['\u202E', '\u0007']) expect(pull?.body).not.toContain(hidden);
});

/** What a reader of Markdown takes for text: not the blocks and spans of code. */
function withoutCode(body: string): string {
  const blocks = body.replace(/^(`{3,})text\n[\s\S]*?\n\1$/gm, '');
  return blocks.replace(/(?<!`)(`+)(?!`)[\s\S]*?[^`]\1(?!`)/g, '');
}

test('a secret in a text of the run or in its title is not shown', async () => {
  const { push, call, pulls, target } = opened.start({ title: 'With another-secret-5678' });
  const message = 'The key is another-secret-5678.';
  const validators = report().validators.map((one) => ({
    ...one,
    name: 'another-secret-5678',
    command: 'another-secret-5678',
  }));
  await opened.pullRequests.open({ ...call(push('two\n')), report: report({ message, validators }) });
  const shown = JSON.stringify([pulls(), statusesOf(target.repository)]);
  expect(shown).not.toContain('another-secret');
  expect(shown.match(/\[secret OTHER\]/g)).toHaveLength(4);
});

test('a whole log is cut to what the host takes', async () => {
  const { push, call, pulls } = opened.start();
  const long = report().decisions.flatMap((one) =>
    Array.from({ length: 50 }, () => ({ ...one, by: 'x'.repeat(5000) })),
  );
  const validators = Array.from({ length: 200 }, () => ({
    ...report().validators[0],
    command: 'y'.repeat(5000),
  })) as never;
  const message = 'z'.repeat(1_000_000);
  await opened.pullRequests.open({
    ...call(push('two\n')),
    report: report({ message, validators, decisions: long, decided: 90 }),
  });
  expect(pulls()[0]?.body?.length).toBeLessThan(65_536);
  expect(pulls()[0]?.body).toContain('and 150 more');
});
