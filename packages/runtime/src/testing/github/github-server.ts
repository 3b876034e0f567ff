import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { type GitServer, startGitServer } from '../git-server.ts';
import type { ApiCall, Asked, Instead, Rights } from './calls.ts';
import { fill, findOperation, wrongAnswer, wrongRequest } from './published-api.ts';
import { answerTalk, emptyTalk, type Talk } from './talk.ts';

export type { ApiCall } from './calls.ts';
export { account, type TestUser } from './talk.ts';

export interface TestPull {
  number: number;
  state: 'open' | 'closed';
  merged_at: string | null;
  title: string;
  body: string | null;
  draft: boolean;
  html_url: string;
  head: { ref: string; sha: string; repo: { full_name: string } | null };
  base: { ref: string };
}

interface Status {
  repository: string;
  sha: string;
  state: string;
  context: string;
  description: string | null;
}

/**
 * A GitHub on the loopback: the API at /api/v3 and real git over http at all other paths. Each request and answer of the API is compared with
 * GitHub's published description.
 */
export interface GithubServer extends GitServer {
  /** Address of the API. */
  api: string;
  tokens: Map<string, Rights>;
  pulls: TestPull[];
  statuses: Status[];
  /** What people wrote, and the results of checks. */
  talk: Talk;
  /** Every call of the API in order, refused ones as well. */
  calls: ApiCall[];
  /** What the description does not allow. */
  violations: string[];
  /** Called before a call takes effect. */
  before: (call: ApiCall) => Instead | undefined;
  /** Called once a call took effect, before it is answered. */
  after: (call: ApiCall) => Promise<void> | void;
}

const prefix = '/api/v3';

/** @param root a folder with a folder for each owner, which has bare repositories */
export async function startGithub(root: string, tokens: Record<string, Rights>): Promise<GithubServer> {
  const [password = ''] = Object.keys(tokens);
  const git = await startGitServer(root, { password });
  const github: GithubServer = Object.assign(git, {
    api: `https://localhost:${git.port}${prefix}`,
    tokens: new Map(Object.entries(tokens)),
    ...{ pulls: [], statuses: [], calls: [], violations: [], talk: emptyTalk() },
    before: () => undefined,
    after: () => {},
  });
  github.talk.logPlace = (id) => `https://localhost:${git.port}/logs/${id}`;
  git.answers = (request, response) => {
    if (request.url?.startsWith('/logs/')) return serveLog(github, request, response);
    if (!request.url?.startsWith(`${prefix}/`)) return false;
    serve(github, root, request, response).catch((error: unknown) => {
      github.violations.push(String(error));
      response.destroy();
    });
    return true;
  };
  return github;
}

/** The storage of logs answers every client that has the address, and is given no token. */
function serveLog(
  { talk, violations }: GithubServer,
  { url = '', headers }: IncomingMessage,
  response: ServerResponse,
): true {
  if (headers.authorization !== undefined) violations.push('the storage of logs was given a token');
  const log = talk.logs.get(Number(url.slice('/logs/'.length)));
  response.writeHead(log === undefined ? 404 : 200, { 'content-type': 'text/plain' }).end(log ?? '');
  return true;
}

async function serve(github: GithubServer, root: string, request: IncomingMessage, response: ServerResponse) {
  const { pathname, searchParams: query } = new URL(request.url ?? '/', 'https://localhost');
  const method = request.method ?? 'GET';
  const path = pathname.slice(prefix.length);
  const sent = Buffer.concat(await Array.fromAsync(request as AsyncIterable<Buffer>)).toString();
  const call: ApiCall = { method, path, query, body: sent === '' ? {} : JSON.parse(sent) };
  github.calls.push(call);
  const found = findOperation(method, path);
  if (found === undefined) return void github.violations.push(`${method} ${path} is no operation that is used`);
  const note = (wrong: string[]) => github.violations.push(...wrong.map((one) => `${method} ${path}: ${one}`));
  note(wrongRequest(found, query, call.body));
  const token = /^Bearer (.*)$/.exec(request.headers.authorization ?? '')?.[1] ?? '';
  const instead = github.before(call);
  const { status, body, headers } =
    instead ?? answer(github, root, { ...call, names: found.names, rights: github.tokens.get(token) });
  const whole = status < 300 && instead === undefined ? fill(found, status, body) : body;
  if (instead === undefined) note(wrongAnswer(found, status, whole));
  await github.after(call);
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(whole));
}

const notFound: Instead = { status: 404, body: { message: 'Not Found', documentation_url: '' } };
const mayNot: Instead = { status: 403, body: { message: 'Resource not accessible by personal access token' } };
const invalid = (field: string, message: string): Instead => ({
  status: 422,
  body: {
    message: 'Validation Failed',
    documentation_url: '',
    errors: [{ resource: 'PullRequest', field, code: 'custom', message }],
  },
});

function answer(github: GithubServer, root: string, asked: Asked): Instead {
  const { method, path, names, rights } = asked;
  if (rights === undefined) return { status: 401, body: { message: 'Bad credentials', documentation_url: '' } };
  const full_name = `${names.owner}/${names.repo}`;
  const bare = join(root, `${full_name}.git`);
  if (!existsSync(bare)) return notFound;
  if (path === `/repos/${full_name}`) return { status: 200, body: repository(bare, full_name, rights) };
  if (names.branch !== undefined) {
    const sha = commitOf(bare, `refs/heads/${decodeURIComponent(names.branch)}`);
    return sha === undefined ? notFound : { status: 200, body: { name: names.branch, commit: { sha } } };
  }
  if (path.endsWith('/pulls'))
    return method === 'GET' ? listPulls(github, asked) : createPull(github, bare, full_name, asked);
  const said = answerTalk(github.talk, asked);
  if (said !== undefined) return said;
  if (names.pull_number !== undefined) return changePull(github, asked);
  if (names.sha !== undefined) return addStatus(github, bare, asked);
  return { status: 200, body: combined(github, full_name, names.ref ?? '') };
}

function repository(bare: string, full_name: string, { push = true }: Rights): object {
  const head = execFileSync('git', ['-C', bare, 'symbolic-ref', '--short', 'HEAD'], { encoding: 'utf8' }).trim();
  return { full_name, default_branch: head, archived: false, permissions: { admin: false, pull: true, push } };
}

function commitOf(bare: string, ref: string): string | undefined {
  try {
    return execFileSync('git', ['-C', bare, 'rev-parse', '--verify', '--quiet', ref], { encoding: 'utf8' }).trim();
  } catch {
    return undefined;
  }
}

function listPulls({ pulls }: GithubServer, { query }: Asked): Instead {
  const [state, head] = [query.get('state') ?? 'open', query.get('head')];
  const body = pulls.filter((pull) => {
    const owner = pull.head.repo?.full_name.split('/')[0];
    return (state === 'all' || pull.state === state) && (head === null || head === `${owner}:${pull.head.ref}`);
  });
  return { status: 200, body };
}

function createPull(github: GithubServer, bare: string, full_name: string, { body, rights }: Asked): Instead {
  const [head, base] = [String(body.head), String(body.base)];
  if (rights?.pulls === false) return mayNot;
  const sha = commitOf(bare, `refs/heads/${head}`);
  if (sha === undefined) return invalid('head', 'is invalid');
  if (commitOf(bare, `refs/heads/${base}`) === undefined) return invalid('base', 'is invalid');
  const isThere = github.pulls.some(
    (pull) =>
      pull.state === 'open' &&
      pull.head.ref === head &&
      pull.base.ref === base &&
      pull.head.repo?.full_name === full_name,
  );
  if (isThere) return invalid('head', `A pull request already exists for ${full_name.split('/')[0]}:${head}.`);
  const number = github.pulls.length + 1;
  const pull: TestPull = {
    ...{ number, state: 'open', merged_at: null, title: String(body.title), body: String(body.body ?? '') },
    ...{ draft: body.draft === true, html_url: `https://localhost:${github.port}/${full_name}/pull/${number}` },
    ...{ head: { ref: head, sha, repo: { full_name } }, base: { ref: base } },
  };
  github.pulls.push(pull);
  return { status: 201, body: pull };
}

function changePull(github: GithubServer, { method, names, body, rights }: Asked): Instead {
  const pull = github.pulls.find(({ number }) => number === Number(names.pull_number));
  if (pull === undefined) return notFound;
  if (method === 'PATCH' && rights?.pulls === false) return mayNot;
  if (typeof body.title === 'string') pull.title = body.title;
  if (typeof body.body === 'string') pull.body = body.body;
  if (typeof body.base === 'string') pull.base = { ref: body.base };
  return { status: 200, body: pull };
}

function addStatus(github: GithubServer, bare: string, { names, body, rights }: Asked): Instead {
  if (rights?.statuses === false) return mayNot;
  const sha = commitOf(bare, `${names.sha}^{commit}`);
  if (sha === undefined) return invalid('sha', `No commit found for SHA: ${names.sha}`);
  const { state, context, description } = body as Record<string, string>;
  if ((description ?? '').length > 140) return invalid('description', 'is too long (maximum is 140 characters)');
  const repository = `${names.owner}/${names.repo}`;
  const status = {
    repository,
    sha,
    state: state ?? '',
    context: context ?? 'default',
    description: description ?? null,
  };
  github.statuses.push(status);
  return { status: 201, body: status };
}

function combined({ statuses }: GithubServer, repository: string, sha: string): object {
  const own = statuses.filter((one) => one.sha === sha && one.repository === repository);
  const last = new Map(own.map((one) => [one.context, one]));
  return { state: 'success', sha, total_count: last.size, statuses: [...last.values()] };
}
