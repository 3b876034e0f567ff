import type { PullRequest } from '@holdpoint/contract';
import type { FailedCheck, PullRequestAnswer } from '@holdpoint/engine/worker';
import { z } from 'zod';
import { PullRequestError } from '../errors.ts';
import type { CodeHost, Opened, Wanted } from '../port.ts';
import { answerMarker, isMarked } from '../text/marker.ts';
import { code } from '../text/quote.ts';
import { mayWrite, readNews } from './news.ts';
import * as githubApi from './request.ts';

const bodySchema = z.object({
  id: z.number(),
  body: z.string().nullish(),
  /** The first comment of the thread. */
  in_reply_to_id: z.number().nullish(),
});

/** A comment on a line is answered in its thread, anything else in the conversation. The host is asked first whether the answer is there. */
async function answerRemark(
  api: githubApi.Api,
  at: string,
  opened: Opened,
  { to, nonce }: PullRequestAnswer,
): Promise<void> {
  const isLine = to.kind === 'comment';
  const list = isLine ? `${at}/pulls/${opened.number}/comments` : `${at}/issues/${opened.number}/comments`;
  const marker = answerMarker(opened.runId, nonce);
  const there = await githubApi.askAll(api, { path: list, item: bodySchema, to: 'read comments' });
  if (there.some(({ body }) => body?.split('\n', 1)[0]?.trimEnd() === marker)) return;
  const body = [marker, answerText(opened, to)].join('\n');
  // GitHub takes no reply to a reply, so an answer goes to the first comment of its thread.
  const first = there.find(({ id }) => String(id) === to.id)?.in_reply_to_id ?? to.id;
  const path = isLine ? `${list}/${first}/replies` : list;
  await githubApi.ask(api, {
    method: 'POST',
    path,
    body: { body },
    answer: githubApi.anything,
    to: 'answer a comment',
  });
}

const names = { comment: 'this comment', review: 'the review that requests changes', command: 'the command' } as const;

function answerText({ runId, commit }: Opened, { kind, id }: PullRequestAnswer['to']): string {
  const number = kind === 'comment' ? '' : ` (${id})`;
  return `The Holdpoint run ${code(runId)} has read ${names[kind]}${number}. Its reviewed change is in ${commit}.`;
}

/** The API leads to the place of the log, which gets no token. @returns undefined: the log cannot be read */
async function readLog(api: githubApi.Api, at: string, { log }: FailedCheck): Promise<string | undefined> {
  if (log === undefined) return undefined;
  const { url, token, web, signal } = api;
  let place: URL | undefined;
  const mayFollow = (to: URL): boolean => {
    place = to;
    return false;
  };
  const headers = { authorization: `Bearer ${token}`, accept: 'application/vnd.github+json' };
  const asked = { url: `${url}${at}/actions/jobs/${log}/logs`, headers, limits: { redirects: 1 }, mayFollow, signal };
  await web.fetch(asked).catch(() => undefined);
  signal.throwIfAborted();
  return place === undefined ? undefined : api.fetchLog(place);
}

/** @param repository owner/name */
export function openGithub(api: githubApi.Api, repository: string): CodeHost {
  const at = `/repos/${repository}`;
  return {
    async check(wanted) {
      const there = await readRepository(api, at, repository);
      await checkBase(api, at, wanted, there);
      assertChangeable(await findPulls(api, at, { ...wanted, repository }), wanted);
    },
    async open(wanted) {
      const there = await readRepository(api, at, repository);
      const base = wanted.base ?? there.default_branch;
      await markCommit(api, at, wanted);
      const seen = await findPulls(api, at, { ...wanted, repository });
      const own = assertChangeable(seen, wanted);
      const pull = own ?? (await create(api, at, { ...wanted, base, repository }));
      return toPullRequest(repository, await update(api, at, { ...wanted, base }, pull));
    },
    news: (pull) => readNews(api, at, pull, repository),
    mayWrite: (user) => mayWrite(api, at, user),
    logEnd: (check) => readLog(api, at, check),
    answer: (pull, answer) => answerRemark(api, at, pull, answer),
  };
}

async function readRepository(api: githubApi.Api, at: string, repository: string): Promise<githubApi.Repository> {
  const found = await githubApi.ask(api, { path: at, answer: githubApi.repositorySchema, to: `read ${repository}` });
  if (found === undefined)
    throw new PullRequestError('EPULLREQUESTMISSING', `The API has no repository ${repository}.`);
  if (found.permissions?.push !== true) {
    throw new PullRequestError('EPULLREQUESTRIGHT', `The token may not write to ${repository}.`);
  }
  if (found.archived === true) throw new PullRequestError('EPULLREQUESTREFUSED', `${repository} is archived.`);
  return found;
}

async function checkBase(
  api: githubApi.Api,
  at: string,
  { base, branch }: Pick<Wanted, 'base' | 'branch'>,
  { default_branch }: githubApi.Repository,
): Promise<void> {
  const name = base ?? default_branch;
  if (name === branch) {
    const said = `The branch ${branch} cannot be merged into itself: the pull request needs another base or another branch.`;
    throw new PullRequestError('EPULLREQUESTBASE', said);
  }
  if (base === undefined) return;
  const path = `${at}/branches/${base.split('/').map(encodeURIComponent).join('/')}`;
  const found = await githubApi.ask(api, { path, answer: githubApi.anything, to: `read the branch ${base}` });
  if (found === undefined) throw new PullRequestError('EPULLREQUESTBASE', `The repository has no branch ${base}.`);
}

/** The pull requests from exactly this branch: a fork may have a branch, and a text, of the same name. */
async function findPulls(
  api: githubApi.Api,
  at: string,
  { branch, repository }: Pick<Wanted, 'branch'> & { repository: string },
): Promise<githubApi.Pull[]> {
  const [owner = ''] = repository.split('/');
  const query = new URLSearchParams({ state: 'all', head: `${owner}:${branch}`, per_page: '100' });
  const path = `${at}/pulls?${query}`;
  const found = (await githubApi.ask(api, { path, answer: githubApi.pullsSchema, to: 'list pull requests' })) ?? [];
  const isOwn = ({ head: { ref, repo } }: githubApi.Pull): boolean =>
    ref === branch && repo?.full_name.toLowerCase() === repository.toLowerCase();
  return found.filter(isOwn);
}

/** The pull request that this run opened, if it may still be changed. @throws PullRequestError */
function assertChangeable(
  pulls: readonly githubApi.Pull[],
  { runId, commit }: Pick<Wanted, 'runId' | 'commit'>,
): githubApi.Pull | undefined {
  const own = pulls.filter(({ body }) => isMarked(body, runId));
  const open = pulls.find(({ state }) => state === 'open');
  const mine = own.find(({ state }) => state === 'open') ?? own.find(({ head }) => head.sha === commit);
  if (mine !== undefined) return mine;
  if (open !== undefined) throw foreign(open);
  const [over] = own;
  if (over === undefined) return undefined;
  const how = over.merged_at == null ? 'closed' : 'merged';
  throw new PullRequestError('EPULLREQUESTOVER', `The pull request ${over.html_url} of this run is ${how}.`);
}

const foreign = ({ html_url }: githubApi.Pull): PullRequestError =>
  new PullRequestError(
    'EPULLREQUESTFOREIGN',
    `The branch has a pull request already, which this run did not open: ${html_url}.`,
  );

type Placed = Wanted & { base: string; repository: string };

/** GitHub has one open pull request for a branch and a base, so a second worker's request is refused, and finds that of the first. */
async function create(api: githubApi.Api, at: string, wanted: Placed): Promise<githubApi.Pull> {
  const { branch: head, base, title, body, draft } = wanted;
  try {
    const request = { method: 'POST', path: `${at}/pulls`, body: { title, head, base, body, draft } } as const;
    const made = await githubApi.ask(api, { ...request, answer: githubApi.pullSchema, to: 'open the pull request' });
    if (made !== undefined) return made;
  } catch (error) {
    if (!(error instanceof PullRequestError) || error.code !== 'EPULLREQUESTREFUSED') throw error;
    const now = assertChangeable(await findPulls(api, at, wanted), wanted);
    if (now === undefined) throw error;
    return now;
  }
  throw new PullRequestError('EPULLREQUESTANSWER', 'The code host did not say which pull request it opened.');
}

/** A merged or closed one keeps its text. */
async function update(
  api: githubApi.Api,
  at: string,
  { base, title, body }: Wanted & { base: string },
  pull: githubApi.Pull,
): Promise<githubApi.Pull> {
  const isSame = pull.title === title && sameText(pull.body, body) && pull.base.ref === base;
  if (isSame || pull.state === 'closed') return pull;
  const path = `${at}/pulls/${pull.number}`;
  const request = { method: 'PATCH', path, body: { title, body, base } } as const;
  return (
    (await githubApi.ask(api, { ...request, answer: githubApi.pullSchema, to: 'update the pull request' })) ?? pull
  );
}

/** GitHub stores line ends as browsers send them. */
const sameText = (one: string | null, other: string): boolean =>
  (one ?? '').replaceAll('\r\n', '\n').trimEnd() === other.trimEnd();

const toPullRequest = (repository: string, { number, html_url: url }: githubApi.Pull): PullRequest => ({
  provider: 'github',
  repository,
  number,
  url,
});

/**
 * Marks the commit before the pull request is opened, so no reader sees one without the other. Commit statuses take a token; check runs take
 * the key of an app.
 */
async function markCommit(
  api: githubApi.Api,
  at: string,
  { commit, statuses }: Pick<Wanted, 'commit' | 'statuses'>,
): Promise<void> {
  const read = { path: `${at}/commits/${commit}/status?per_page=100`, answer: githubApi.statusesSchema };
  const there = await githubApi.ask(api, { ...read, to: 'read the statuses of the commit' });
  for (const { context, description } of statuses) {
    const last = there?.statuses.find((one) => one.context === context);
    if (last?.state === 'success' && last.description === description) continue;
    const body = { state: 'success', context, description };
    const request = { method: 'POST', path: `${at}/statuses/${commit}`, body } as const;
    await githubApi.ask(api, { ...request, answer: githubApi.anything, to: 'mark the commit' });
  }
}
