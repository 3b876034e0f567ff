import type { PullRequest, PullRequestTarget } from '@holdpoint/contract';
import type {
  CodeHostUser,
  PullRequestAnswer,
  PullRequestNews,
  PullRequestPort,
  PullRequestRemark,
} from '../../ports/index.ts';

export const target: PullRequestTarget = {
  ...{ provider: 'github', api: 'https://api.github.com', repository: 'owner/project' },
  ...{ secret: 'TOKEN', title: 'Do it', base: 'main' },
};
export const pullRequest: PullRequest = {
  ...{ provider: 'github', repository: 'owner/project', number: 7 },
  url: 'https://github.com/owner/project/pull/7',
};

const quietNews: PullRequestNews = { status: 'open', failed: [], pending: 0, remarks: [], unread: [] };

/** A code host on which nothing happens. */
export const quietHost: Pick<PullRequestPort, 'news' | 'mayWrite' | 'describeCheck' | 'answer'> = {
  news: async () => quietNews,
  mayWrite: async () => false,
  describeCheck: async ({ call }, { name }) => `${name} failed at ${call.commit}`,
  answer: async () => {},
};

export const person = (name: string): CodeHostUser => ({ id: `id of ${name}`, name, isPerson: true });

/** A code host in memory. Each request can be watched, and fail. */
export function codeHost() {
  const host = {
    news: { ...quietNews } as PullRequestNews,
    writers: new Set(['ann']),
    answers: [] as PullRequestAnswer[],
    asked: [] as string[],
    /** Called with each request, before it takes effect and after. */
    around: async (_name: string, send: () => Promise<unknown>): Promise<unknown> => send(),
    comment(id: string, by: CodeHostUser | undefined = person('ann'), text = `comment ${id}`): void {
      const remark: PullRequestRemark = { kind: 'comment', id, by, text };
      host.news = { ...host.news, remarks: [...host.news.remarks, remark] };
    },
  };
  const request = async <Result>(name: string, act: () => Result): Promise<Result> => {
    host.asked.push(name);
    return (await host.around(name, async () => act())) as Result;
  };
  const port: PullRequestPort = {
    check: async () => {},
    open: async () => pullRequest,
    news: () => request('news', () => structuredClone(host.news)),
    mayWrite: (_, { name }) => request('mayWrite', () => host.writers.has(name)),
    describeCheck: ({ call }, { name }) => request('log', () => `${name} failed at ${call.commit}`),
    async answer(_, answer) {
      const there = await request('list', () => host.answers.some(({ nonce }) => nonce === answer.nonce));
      if (!there) await request('answer', () => void host.answers.push(answer));
    },
  };
  return Object.assign(host, { port });
}
