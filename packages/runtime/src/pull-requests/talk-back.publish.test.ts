import { startTestEngine, type TestEngine } from '@holdpoint/engine/testing';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { openedPulls } from '../testing/github/opened-pulls.ts';
import { pullScene } from '../testing/github/scene.ts';

let engine: TestEngine;
let opened: Awaited<ReturnType<typeof openedPulls>>;
beforeAll(async () => {
  engine = await startTestEngine();
  opened = await openedPulls();
});
afterAll(async () => {
  await opened[Symbol.asyncDispose]();
  await engine.stop();
});

/** Repositories of two tests may have the same commit. */
afterEach(() => {
  opened.github.talk.checks.length = 0;
  opened.github.statuses.length = 0;
});

test('a check that flaps is passed on once for a commit, and once more for the next one', async () => {
  const { followed, scene, publish } = await pullScene(engine, opened);
  const told = async () => (await followed.messages()).filter(({ text }) => text.includes('failed')).length;
  const status = (state: string, sha: string) =>
    scene.github.statuses.push({
      ...{ repository: scene.github.pulls.at(-1)?.head.repo?.full_name ?? '', sha, state },
      ...{ context: 'ci/outside', description: null },
    });
  const flap = async (sha: string): Promise<void> => {
    for (const conclusion of ['failure', 'success', 'failure', 'timed_out']) {
      // A try again has a new number.
      scene.github.talk.checks.length = 0;
      scene.check({ head_sha: sha, conclusion, app: { slug: 'an-app' } });
      status(conclusion === 'success' ? 'success' : 'failure', sha);
      for (let look = 0; look < 2; look++) await followed.look();
    }
  };
  await flap(scene.commit);
  expect([await told(), (await followed.state())?.rounds]).toEqual([1, 1]);
  await flap(await publish('three\n'));
  expect(await told()).toBe(2);
  expect(opened.github.violations).toEqual([]);
});

test('the answer to a comment that is a reply goes to its thread, once', async () => {
  const { followed, scene, publish } = await pullScene(engine, opened);
  const { talk } = scene.github;
  const first = scene.comment('What is this?', scene.eve);
  const reply = scene.comment('Say three.', scene.ann, { in_reply_to_id: first });
  await followed.look();
  expect(await followed.messages()).toMatchObject([{ text: expect.not.stringContaining('What is this?') }]);
  const commit = await publish('three\n');
  for (let look = 0; look < 3; look++) await followed.look();
  expect(talk.comments.filter(({ user, number }) => user === talk.self && number === scene.number)).toMatchObject([
    { in_reply_to_id: first, body: expect.stringContaining(commit) },
  ]);
  expect(reply).not.toBe(first);
  const state = await followed.state();
  expect(state).toMatchObject({ answers: [] });
  expect(state?.problem).toBeUndefined();
});

test('a comment that was deleted takes no answer, which the record says, and the others are answered', async () => {
  const { followed, scene, publish } = await pullScene(engine, opened);
  const { talk } = scene.github;
  const gone = scene.comment('Say three.', scene.ann);
  const there = scene.comment('Say four.', scene.ann);
  await followed.look();
  talk.comments = talk.comments.filter(({ id }) => id !== gone);
  await publish('three\n');
  for (let look = 0; look < 3; look++) await followed.look();
  const answers = talk.comments.filter(({ user, number }) => user === talk.self && number === scene.number);
  expect(answers.map((one) => one.in_reply_to_id)).toEqual([there]);
  expect(await followed.state()).toMatchObject({ answers: [], problem: { code: 'pull_request_unanswered' } });
});

test('a repository that the token does not see for a while loses no comment, and no answer is sent twice', async () => {
  const { followed, scene, publish } = await pullScene(engine, opened);
  const { github, ann } = scene;
  scene.comment('Say three.', ann);
  const hide = (part: RegExp) => {
    github.before = ({ method, path }) =>
      method === 'GET' && part.test(path) ? { status: 404, body: { message: 'Not Found' } } : undefined;
  };
  // It disappears between the comments and the question who wrote them.
  hide(/^\/repos\/[^/]+\/[^/]+(\/collaborators\/.*)?$/);
  await followed.look();
  expect(await followed.messages()).toEqual([]);
  expect((await followed.state())?.problem).toMatchObject({ code: 'EPULLREQUESTMISSING' });
  hide(/^$/);
  await followed.look();
  expect(await followed.messages()).toHaveLength(1);
  const commit = await publish('three\n');
  const answers = () =>
    github.talk.comments.filter(({ user, number }) => user === github.talk.self && number === scene.number);
  // The answer is there, and its process died before it was recorded.
  await followed.look();
  const { state } = (await followed.store.find(followed.runId)) ?? {};
  expect([answers().length, state?.answers]).toEqual([1, []]);
  const [nonce = ''] = /(?<=:)[0-9a-f-]{36}(?= -->)/.exec(answers()[0]?.body ?? '') ?? [];
  const to = { kind: 'comment' as const, id: String(answers()[0]?.in_reply_to_id) };
  const after = await followed.store.find(followed.runId);
  if (state === undefined) throw new Error('no pull request is followed');
  await followed.store.put({ after, state: { ...state, answers: [{ to, nonce, commit }] }, wakeAt: 0 }, 0);
  hide(/\/comments$/);
  await followed.look();
  expect((await followed.state())?.answers).toHaveLength(1);
  hide(/^$/);
  await followed.look();
  expect([answers().length, (await followed.state())?.answers]).toEqual([1, []]);
  github.before = () => undefined;
});

test('answers of Holdpoint and of another installation wake no run', async () => {
  const { followed, scene, publish } = await pullScene(engine, opened);
  const { talk } = scene.github;
  scene.comment('Say three.', scene.ann);
  await followed.look();
  await publish('three\n');
  for (let look = 0; look < 3; look++) await followed.look();
  const own = talk.comments.find(({ user, number }) => user === talk.self && number === scene.number);
  expect(own).toBeDefined();
  // Another agent answers each answer under the account of the token, with the words that it saw.
  const other = '<!-- holdpoint:run_0190c7a0-0000-7000-8000-000000000000:1 -->\n/holdpoint Do more.';
  scene.comment(`${own?.body}`, talk.self);
  scene.comment(other, talk.self);
  scene.say(other, talk.self);
  scene.review('CHANGES_REQUESTED', other, talk.self);
  for (let look = 0; look < 3; look++) await followed.look();
  expect((await followed.messages()).slice(1)).toEqual([]);
});
