import type { Asked, Instead } from './calls.ts';

export interface TestUser {
  id: number;
  login: string;
  type: 'User' | 'Bot' | 'Organization';
}

interface Written {
  /** That of the pull request. */
  number: number;
  id: number;
  user: TestUser | null;
  body: string;
}
interface LineComment extends Written {
  path: string;
  line: number | null;
  diff_hunk: string;
  in_reply_to_id?: number;
}
interface Review extends Written {
  state: string;
}
interface Comment extends Written {
  performed_via_github_app?: object | null;
}
interface CheckRun {
  id: number;
  head_sha: string;
  name: string;
  status: string;
  conclusion: string | null;
  output: { title: string | null; summary: string | null };
  app: { slug: string } | null;
}

/** What people and programs said about pull requests. */
export interface Talk {
  comments: LineComment[];
  reviews: Review[];
  conversation: Comment[];
  checks: CheckRun[];
  /** The log of a job, or the place that the API leads to. */
  logs: Map<number, string>;
  logPlace: (id: number) => string | undefined;
  /** By login. */
  permissions: Map<string, { permission: string; user: TestUser }>;
  /** The account of the token. */
  self: TestUser;
  nextId: number;
}

const self: TestUser = { id: 1, login: 'holdpoint-account', type: 'User' };

export const emptyTalk = (): Talk => ({
  ...{ comments: [], reviews: [], conversation: [], checks: [], logs: new Map(), logPlace: () => undefined },
  permissions: new Map([[self.login, { permission: 'write', user: self }]]),
  ...{ self, nextId: 1000 },
});

/** An account with a permission. */
export function account(talk: Talk, login: string, permission: string, type: TestUser['type'] = 'User'): TestUser {
  const user: TestUser = { id: talk.nextId++, login, type };
  talk.permissions.set(login, { permission, user });
  return user;
}

const page = <Item>(items: readonly Item[], query: URLSearchParams): Instead => {
  const [size, number] = [Number(query.get('per_page') ?? 30), Number(query.get('page') ?? 1)];
  return { status: 200, body: items.slice((number - 1) * size, number * size) };
};

export function answerTalk(talk: Talk, { method, path, names, query, body }: Asked): Instead | undefined {
  const number = Number(names.pull_number ?? names.issue_number);
  const of = <Item extends Written>(items: readonly Item[]): Item[] => items.filter((one) => one.number === number);
  if (names.username !== undefined) return permissionOf(talk, decodeURIComponent(names.username));
  if (names.job_id !== undefined) return logOf(talk, Number(names.job_id));
  if (path.endsWith('/check-runs')) {
    const check_runs = talk.checks.filter(({ head_sha }) => head_sha === names.ref);
    return { status: 200, body: { total_count: check_runs.length, check_runs } };
  }
  if (path.endsWith('/replies')) return reply(talk, { number, to: Number(names.comment_id), body: String(body.body) });
  if (path.endsWith('/reviews')) return page(of(talk.reviews), query);
  if (names.issue_number !== undefined && method === 'POST') {
    const made = { id: talk.nextId++, number, user: talk.self, body: String(body.body) };
    talk.conversation.push(made);
    return { status: 201, body: shown(made) };
  }
  if (!path.endsWith('/comments')) return undefined;
  return names.issue_number === undefined
    ? page(of(talk.comments).map(shown), query)
    : page(of(talk.conversation).map(shown), query);
}

const shown = ({ number: _, ...rest }: Written): object => rest;

function permissionOf({ permissions }: Talk, login: string): Instead {
  const found = permissions.get(login);
  if (found === undefined) return { status: 404, body: { message: `${login} is not a user` } };
  const { user, permission } = found;
  return { status: 200, body: { permission, role_name: permission, user: { ...user, permissions: undefined } } };
}

function logOf({ logs, logPlace }: Talk, id: number): Instead {
  const location = logPlace(id);
  if (!logs.has(id) || location === undefined) return { status: 404, body: { message: 'Not Found' } };
  return { status: 302, body: {}, headers: { location } };
}

function reply(talk: Talk, { number, to, body }: { number: number; to: number; body: string }): Instead {
  const first = talk.comments.find(({ id }) => id === to);
  if (first === undefined || first.in_reply_to_id !== undefined)
    return { status: 404, body: { message: 'Not Found', documentation_url: '' } };
  const { path, line, diff_hunk } = first;
  const made = { id: talk.nextId++, number, user: talk.self, body, path, line, diff_hunk, in_reply_to_id: to };
  talk.comments.push(made);
  return { status: 201, body: shown(made) };
}
