import type { CodeHostUser, FailedCheck, PullRequestNews, PullRequestRemark } from '@holdpoint/engine/worker';
import { PullRequestError } from '../errors.ts';
import type { Opened } from '../port.ts';
import { isOurs } from '../text/marker.ts';
import { commandOf, commandRemark, lineRemark, reviewRemark } from '../text/remark.ts';
import * as githubApi from './request.ts';

/** How a pull request is: whether it is open, the checks of its commit, and what people wrote. */
export async function readNews(
  api: githubApi.Api,
  at: string,
  opened: Opened,
  repository: string,
): Promise<PullRequestNews> {
  const path = `${at}/pulls/${opened.number}`;
  const pull = await githubApi.ask(api, { path, answer: githubApi.pullSchema, to: 'read the pull request' });
  if (pull === undefined)
    throw new PullRequestError('EPULLREQUESTMISSING', `There is no pull request ${opened.number}.`);
  assertOwn(pull, opened, repository);
  const nothing = { failed: [], pending: 0, remarks: [], unread: [] };
  if (pull.state === 'closed') return { ...nothing, status: pull.merged_at == null ? 'closed' : 'merged' };
  const unread: string[] = [];
  const checks = await readChecks(api, at, opened.commit, unread);
  return { status: 'open', ...checks, remarks: await readRemarks(api, at, opened.number), unread };
}

/** A number says little where a repository was replaced. */
function assertOwn({ head, html_url }: githubApi.Pull, { branch }: Opened, repository: string): void {
  if (head.ref === branch && head.repo?.full_name.toLowerCase() === repository.toLowerCase()) return;
  throw new PullRequestError('EPULLREQUESTFOREIGN', `${html_url} is not from the branch ${branch} of ${repository}.`);
}

const failures = ['failure', 'timed_out'];

/** Another commit on the branch has checks of its own, which say nothing about this one. */
async function readChecks(api: githubApi.Api, at: string, commit: string, unread: string[]) {
  const runs = await githubApi
    .ask(api, {
      ...{ path: `${at}/commits/${commit}/check-runs?per_page=100`, answer: githubApi.checkRunsSchema },
      to: 'read the checks',
    })
    .catch((error: unknown) => withoutRight(error, unread));
  const states = await githubApi.ask(api, {
    ...{ path: `${at}/commits/${commit}/status?per_page=100`, answer: githubApi.statusesSchema },
    to: 'read the statuses of the commit',
  });
  const others = (states?.statuses ?? []).filter(({ context }) => !context.startsWith('holdpoint/'));
  const failed = [
    ...(runs?.check_runs ?? []).filter(({ conclusion }) => failures.includes(conclusion ?? '')).map(asFailed),
    ...others.filter(({ state }) => state === 'failure' || state === 'error').map(asFailedStatus),
  ];
  const pending =
    (runs?.check_runs ?? []).filter(({ status }) => status !== 'completed').length +
    others.filter(({ state }) => state === 'pending').length;
  return { failed, pending };
}

function withoutRight(error: unknown, unread: string[]): undefined {
  if (!(error instanceof PullRequestError) || error.code !== 'EPULLREQUESTRIGHT') throw error;
  unread.push('checks');
}

const asFailed = ({ id, name, output, app }: githubApi.CheckRun): FailedCheck => ({
  // Each try again of a check has a new number: a check that flaps is passed on once for a commit.
  id: `run:${app?.slug ?? ''}:${name}`,
  name,
  summary: [output.title, output.summary].filter(Boolean).join('\n'),
  // The check run of a job of GitHub Actions has the number of the job.
  ...(app?.slug === 'github-actions' && { log: String(id) }),
});

const asFailedStatus = ({ context, description, state }: githubApi.Status): FailedCheck => ({
  id: `status:${context}`,
  name: context,
  summary: description ?? state,
});

async function readRemarks(api: githubApi.Api, at: string, number: number): Promise<PullRequestRemark[]> {
  const pull = `${at}/pulls/${number}`;
  const reviews = await githubApi.askAll(api, {
    path: `${pull}/reviews`,
    item: githubApi.reviewSchema,
    to: 'read reviews',
  });
  const comments = await githubApi.askAll(api, {
    ...{ path: `${pull}/comments`, item: githubApi.lineCommentSchema, to: 'read review comments' },
  });
  const talk = await githubApi.askAll(api, {
    ...{ path: `${at}/issues/${number}/comments`, item: githubApi.commentSchema, to: 'read comments' },
  });
  return [
    ...reviews
      .filter(({ state, body }) => state === 'CHANGES_REQUESTED' && !isOurs(body))
      .map(({ id, user, body }) => remark('review', id, user, reviewRemark(nameOf(user), body))),
    ...comments
      .filter(({ body }) => !isOurs(body))
      .map(({ id, user, body, path, diff_hunk: hunk, line, original_line, start_line }) => {
        const place = { path, hunk, line: line ?? original_line ?? undefined, from: start_line ?? undefined };
        return remark('comment', id, user, lineRemark({ by: nameOf(user), body, ...place }));
      }),
    ...talk.flatMap(({ id, user, body, performed_via_github_app: app }) => {
      const words = isOurs(body ?? '') ? undefined : commandOf(body ?? '');
      if (words === undefined) return [];
      return [remark('command', id, app == null ? user : undefined, commandRemark(nameOf(user), words))];
    }),
  ];
}

const nameOf = (user: githubApi.User): string => user?.login ?? 'an unknown account';

const remark = (
  kind: PullRequestRemark['kind'],
  id: number,
  user: githubApi.User,
  text: string,
): PullRequestRemark => ({
  kind,
  id: String(id),
  by: asUser(user),
  text,
});

/** Programs have accounts of other types, some of them with write access. */
const asUser = (user: githubApi.User): CodeHostUser | undefined =>
  user == null ? undefined : { id: String(user.id), name: user.login, isPerson: user.type === 'User' };

/** `maintain` and roles of an organisation are reported as `write` or `admin`. */
const writers = ['write', 'admin'];

/** Asks about the account that has the name now: a name that went to another account has another number. */
export async function mayWrite(api: githubApi.Api, at: string, user: CodeHostUser): Promise<boolean> {
  const path = `${at}/collaborators/${encodeURIComponent(user.name)}/permission`;
  const to = `ask what ${user.name} may do`;
  const found = await githubApi.ask(api, { path, answer: githubApi.permissionSchema, to });
  if (found === undefined && (await githubApi.ask(api, { path: at, answer: githubApi.anything, to })) === undefined) {
    // The token sees the repository no more, which says nothing about the account.
    throw githubApi.hidden(api, to);
  }
  return found !== undefined && writers.includes(found.permission) && String(found.user?.id) === user.id;
}
