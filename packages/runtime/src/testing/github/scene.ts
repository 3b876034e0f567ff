import { followedRun, type TestEngine } from '@holdpoint/engine/testing';
import { account, type GithubServer, type TestUser } from './github-server.ts';
import { type openedPulls, report } from './opened-pulls.ts';

type Opened = Awaited<ReturnType<typeof openedPulls>>;

export interface Scene {
  github: GithubServer;
  number: number;
  commit: string;
  /** Has write access. */
  ann: TestUser;
  /** May read. */
  eve: TestUser;
  say(body: string, user: TestUser | null, more?: object): void;
  comment(body: string, user: TestUser | null, more?: object): number;
  review(state: string, body: string, user: TestUser | null): void;
  check(more: object): void;
  look(): Promise<void>;
}

/** A run with a pull request, and people who write about it. */
export async function pullScene(engine: TestEngine, opened: Opened) {
  const { github, pullRequests, start } = opened;
  const { push, call, target } = start();
  const commit = push('two\n');
  const pull = await pullRequests.open({ ...call(commit), report: report() });
  const { branch } = call(commit);
  const followed = await followedRun(engine, { real: { port: pullRequests, pull, target, branch, commit } });
  const { talk } = github;
  const ann = talk.permissions.get('ann')?.user ?? account(talk, 'ann', 'write');
  const eve = account(talk, 'eve', 'read');
  const { number } = pull;
  const scene: Scene = {
    ...{ github, number, commit, ann, eve, look: () => followed.look() },
    say: (body, user, more) => void talk.conversation.push({ number, id: talk.nextId++, user, body, ...more }),
    comment(body, user, more) {
      const id = talk.nextId++;
      talk.comments.push({
        number,
        id,
        user,
        body,
        path: 'a.txt',
        line: 1,
        diff_hunk: '@@ -1 +1 @@\n-one\n+two',
        ...more,
      });
      return id;
    },
    review: (state, body, user) => void talk.reviews.push({ number, id: talk.nextId++, user, body, state }),
    check: (more) =>
      void talk.checks.push({
        ...{ id: talk.nextId++, head_sha: commit, name: 'ci', status: 'completed', conclusion: null },
        ...{ output: { title: null, summary: null }, app: null, ...more },
      }),
  };
  const publish = async (text: string): Promise<string> => {
    const next = push(text);
    await followed.publish(next);
    return next;
  };
  return { followed, scene, publish };
}
