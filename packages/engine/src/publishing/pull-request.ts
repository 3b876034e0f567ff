import type { Published } from '@holdpoint/contract';
import type { WorkerDeps } from '../deps.ts';
import type { RunState } from '../domain/index.ts';
import { readError } from '../jobs/index.ts';
import { Damaged, fromPayload, readRun } from '../log/index.ts';
import type { PlannedPublish, PublishCall, PullRequestCall, PullRequestReport } from '../ports/index.ts';
import { followPull } from '../pull-requests/index.ts';
import { readApprovalEvents } from '../queries/index.ts';

/** A planned publish with its pull request. */
interface Opening {
  call: PublishCall;
  planned: PlannedPublish;
  signal: AbortSignal;
}

/** Before anything is pushed: would the code host take the pull request? */
export async function checkPullRequest(deps: WorkerDeps, opening: Opening): Promise<void> {
  const call = callOf(opening);
  if (call !== undefined) await portOf(deps).check(call);
}

/** After the push. The error of a failure says that the branch is there and the pull request is not. */
export async function withPullRequest(
  deps: WorkerDeps,
  run: RunState,
  opening: Opening & { published: Published },
): Promise<Published> {
  const { published } = opening;
  const call = callOf(opening);
  if (call === undefined || published.type !== 'git') return published;
  try {
    const report = await reportOf(deps, run, opening.planned);
    const pull_request = await portOf(deps).open({ ...call, report });
    await followPull(deps, call, pull_request);
    return { ...published, pull_request };
  } catch (error) {
    throw afterPush(error, call);
  }
}

function callOf({ call, planned, signal }: Opening): PullRequestCall | undefined {
  const { target: asked, runId, scope } = call;
  const { target } = planned.plan;
  if (asked.pull_request === undefined || target.type !== 'git') return undefined;
  const { branch, commit } = target;
  return { runId, scope, target: asked.pull_request, branch, commit: commit ?? '', signal };
}

function portOf({ pullRequests }: WorkerDeps) {
  if (pullRequests !== undefined) return pullRequests;
  throw Object.assign(new Error('This worker opens no pull requests.'), {
    ...{ code: 'EPULLREQUESTOFF', retryable: false, next: 'Publish to the branch alone.' },
  });
}

const mostDecisions = 50;

async function reportOf(
  deps: WorkerDeps,
  run: RunState,
  { digest, candidate }: PlannedPublish,
): Promise<PullRequestReport> {
  // Read again: the validators may have run since.
  const now = await readRun(deps.redis, run.id);
  const validated = now?.validated?.snapshot === candidate ? now.validated : undefined;
  const { events } = await readApprovalEvents(deps, run.id, { after: 0 });
  const decisions = events.flatMap((event) => {
    if (event instanceof Damaged || event.type !== 'approval.decided') return [];
    const { decision, by, votes = [], action_digest } = event.data;
    return [{ decision, by, votes: votes.map((vote) => vote.by), digest: action_digest, at: event.time }];
  });
  return {
    message: run.message ?? '',
    digest,
    validators: validated === undefined ? [] : await fromPayload(deps.blobs, validated.results),
    decisions: decisions.slice(-mostDecisions),
    decided: decisions.length,
  };
}

function afterPush(error: unknown, { branch, commit, signal }: PullRequestCall): unknown {
  if (signal.aborted) return error;
  const { problem, retryable, retryAfterMs } = readError(error);
  const name = branch.replace(/^refs\/heads\//, '');
  const message = `The branch ${name} was pushed, at ${commit.slice(0, 10)}, and its pull request is not up to date. ${problem.message}`;
  const next = `${problem.next ?? 'Correct the cause.'} Then publish again: the branch stays as it is, and no second pull request is opened.`;
  return Object.assign(new Error(message, { cause: error }), { code: problem.code, next, retryable, retryAfterMs });
}
