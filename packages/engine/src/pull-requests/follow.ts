import { randomUUID } from 'node:crypto';
import type { PullRequest } from '@holdpoint/contract';
import type { Redis } from 'ioredis';
import { readFields } from '../log/index.ts';
import type { PullRequestCall } from '../ports/index.ts';
import { firstLookMs } from './pace.ts';
import type { Answer, PullState } from './state.ts';
import { openPullStore } from './store.ts';

interface FollowDeps {
  redis: Redis;
  now: () => number;
  wakePull?: ((runId: string, at: number) => Promise<void>) | undefined;
}

/**
 * Begins to follow the pull request of a publish, before the publish is recorded: a process that dies in between is followed by one that
 * publishes again. A new commit answers the comments that the run heard of.
 */
export async function followPull(deps: FollowDeps, call: Following['call'], pull: PullRequest): Promise<void> {
  const store = openPullStore(deps.redis);
  for (;;) {
    const found = await store.find(call.runId);
    const before = found?.state.number === pull.number ? await withSent(deps, found.state) : undefined;
    const state = stateAfter(before, { call, pull, now: deps.now() });
    const wakeAt = deps.now() + (state.answers.length > 0 ? 0 : firstLookMs);
    if (!(await store.put({ after: found, state, wakeAt }, deps.now()))) continue;
    await deps.wakePull?.(call.runId, wakeAt).catch(() => undefined);
    return;
  }
}

/** A process may have died after it sent a message: the run has read it, and this publish answers it. No message is sent during a publish. */
async function withSent({ redis }: FollowDeps, { sending, ...state }: PullState): Promise<PullState> {
  if (sending === undefined) return state;
  const { [sending.message_id]: sent } = await readFields(redis, state.run_id, [sending.message_id]);
  return sent ? { ...state, heard: [...state.heard, ...sending.items] } : { ...state, sending };
}

interface Following {
  call: Pick<PullRequestCall, 'runId' | 'target' | 'branch' | 'commit'>;
  pull: PullRequest;
  now: number;
}

function stateAfter(before: PullState | undefined, { call, pull, now }: Following): PullState {
  const { runId: run_id, target, branch, commit } = call;
  const isNew = before?.commit !== commit;
  const { problem: _, ...kept } = before ?? { rounds: 0, heard: [], answers: [], problem: undefined };
  return {
    ...kept,
    ...{ run_id, target, branch, commit, number: pull.number, url: pull.url, status: 'open', quiet: 0 },
    published_at: isNew ? new Date(now).toISOString() : (before?.published_at ?? new Date(now).toISOString()),
    heard: isNew ? [] : kept.heard,
    answers: isNew ? [...kept.answers, ...answersTo(kept.heard, commit)] : kept.answers,
  };
}

const answersTo = (heard: PullState['heard'], commit: string): Answer[] =>
  heard.filter(({ kind }) => kind !== 'check').map((to) => ({ to, nonce: randomUUID(), commit }));
