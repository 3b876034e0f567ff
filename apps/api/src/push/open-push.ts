import { setTimeout as delay } from 'node:timers/promises';
import type { Callers } from '@holdpoint/callers';
import { type Caller, isTerminal } from '@holdpoint/contract';
import { Damaged, notificationPattern, openPushQueue, type PushJob, type RunState, readEntry } from '@holdpoint/engine';
import type { FastifyBaseLogger } from 'fastify';
import type { Redis } from 'ioredis';
import type { RunNotifications, Subscription } from '../live/run-notifications.ts';
import { type NewsDeps, readNews } from './read-news.ts';
import { type SendDeps, sendPush } from './send-push.ts';
import { openSubscriptions, type PushSubscriptions, type StoredSubscription } from './subscriptions.ts';

interface Deps extends NewsDeps {
  redis: Redis;
  callers: Pick<Callers, 'holderOf'>;
  notifications: RunNotifications;
  logger: Pick<FastifyBaseLogger, 'warn' | 'error'>;
  /** Aborted when the server closes. */
  closing: AbortSignal;
}

export interface PushService {
  publicKey: string;
  allowAddresses: readonly string[];
  subscriptions: PushSubscriptions;
  /** Begins to look for news, once there is a subscription. */
  activate(): void;
  stop(): Promise<void>;
}

const lookMs = 600_000;
const togetherMs = 250;
const closeMs = 3000;
/** Clocks of workers and API processes differ by no more. */
const skewMs = 60_000;
const seenKey = 'hp:{push}:seen';
const doneKey = ({ subscription_id, about_id }: PushJob): string => `hp:{push}:done:${subscription_id}:${about_id}`;
const doneDays = 30;

/**
 * Sends subscribed browsers a push for new approvals and ended runs. Every API process looks, and the state decides: a job names what to look at,
 * and has an id of its own, so processes that find the same news add one job. A push counts as done after the push service took it; a process
 * that dies between the two sends it again, and the topic lets the push service replace the first.
 * @param options.connect opens a connection for the worker of the queue
 */
export async function openPush(deps: Deps, options: SendDeps & { connect: () => Redis }): Promise<PushService> {
  const subscriptions = openSubscriptions(deps.redis, deps.now);
  const ending = new AbortController();
  const signal = AbortSignal.any([deps.closing, ending.signal]);
  let running: Promise<void> | undefined;
  const activate = (): void => {
    if (signal.aborted) return;
    running ??= run({ ...deps, subscriptions }, options, signal).catch((error: unknown) => {
      deps.logger.error({ err: error }, 'pushes end in this process');
    });
  };
  if ((await subscriptions.tenants()).length > 0) activate();
  return {
    publicKey: options.vapid.publicKey,
    allowAddresses: options.allowAddresses,
    subscriptions,
    activate,
    async stop() {
      ending.abort();
      await running;
    },
  };
}

type Running = Deps & { subscriptions: PushSubscriptions };

async function run(deps: Running, options: SendDeps & { connect: () => Redis }, signal: AbortSignal): Promise<void> {
  const queue = openPushQueue({
    ...{ redis: deps.redis, connection: options.connect() },
    handle: (job) => deliver(deps, { ...options, signal }, job),
    onFailure: (job, error) => deps.logger.warn({ err: error, ...job }, 'a push was not taken; it is tried again'),
  });
  const changes = await deps.notifications.subscribeToAll(notificationPattern);
  try {
    await follow(deps, changes, queue.add, signal);
  } finally {
    changes.close();
    // Without Redis the worker does not end. Another process takes its jobs.
    await Promise.race([queue.close(), delay(closeMs)]);
  }
}

type Add = (job: PushJob) => Promise<void>;

async function follow(deps: Running, changes: Subscription, add: Add, signal: AbortSignal): Promise<void> {
  let since: number | undefined = Number((await deps.redis.get(seenKey)) ?? deps.now());
  let lookAt = 0;
  while (!signal.aborted) {
    try {
      if (since !== undefined || deps.now() >= lookAt) {
        const begun = deps.now();
        await lookAtAll(deps, since ?? begun - lookMs, add, signal);
        await deps.redis.set(seenKey, begun);
        lookAt = begun + lookMs;
        since = undefined;
      }
      const runs = await takeChanged(changes, signal);
      since = changes.takeLoss();
      for (const tenant of await deps.subscriptions.tenants()) {
        for (const id of runs) await lookAtRun(deps, tenant, id, add);
      }
    } catch (error) {
      if (signal.aborted) return;
      deps.logger.warn({ err: error }, 'news for pushes could not be read; they are read again');
      since ??= deps.now() - lookMs;
      await pause(1000, signal);
    }
  }
}

/** Runs with news. Changes of a run that follow each other within a quarter of a second are looked at together. */
async function takeChanged(changes: Subscription, signal: AbortSignal): Promise<ReadonlySet<string>> {
  const first = await changes.next({ timeoutMs: lookMs, signal });
  if (first.size === 0) return first;
  await pause(togetherMs, signal);
  return first.union(await changes.next({ timeoutMs: 0, signal }));
}

/** Ends early when the signal is aborted. */
const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  delay(ms, undefined, { signal }).catch(() => undefined);

/** The approvals that wait, and the runs that changed since a time. */
async function lookAtAll(deps: Running, since: number, add: Add, signal: AbortSignal): Promise<void> {
  for (const tenant of await deps.subscriptions.tenants()) {
    const engine = deps.openEngine.as(callerOf(tenant));
    let cursor: string | undefined;
    do {
      const page = await engine.approvals.list({}, { limit: 200, ...(cursor !== undefined && { cursor }) });
      for (const { run } of page.items) await lookAtRun(deps, tenant, run.id, add);
      cursor = page.next;
    } while (cursor !== undefined && !signal.aborted);
    for await (const id of engine.runs.changedSince(since - skewMs)) {
      if (signal.aborted) return;
      await lookAtRun(deps, tenant, id, add);
    }
  }
}

const callerOf = (tenant: string): Caller => ({ name: 'pushes', kind: 'service', tenant });

async function lookAtRun(deps: Running, tenant: string, id: string, add: Add): Promise<void> {
  const engine = deps.openEngine.as(callerOf(tenant));
  const run = await readEntry(id, () => engine.runs.find(id));
  if (run === undefined || run instanceof Damaged) return;
  const news = await newsOf(run, () => engine.approvals.ofRun(id));
  if (news.length === 0) return;
  for (const subscription of await deps.subscriptions.inTenant(tenant)) {
    for (const { at, ...about } of news) {
      const job = { subscription_id: subscription.id, ...about };
      if (isNewFor(subscription, at) && !(await isDone(deps, job))) await add(job);
    }
  }
}

interface Found extends Pick<PushJob, 'about' | 'about_id'> {
  at: string;
}

/** A sub-agent reports to its run. */
async function newsOf(
  run: RunState,
  readApprovals: () => Promise<readonly { id: string; status: string; request: { requested_at: string } }[]>,
): Promise<Found[]> {
  const ended = isTerminal(run.status) && run.parent === undefined && run.ended_at !== undefined;
  const end: Found[] = ended ? [{ about: 'run', about_id: run.id, at: run.ended_at ?? '' }] : [];
  if (run.parked === 0) return end;
  const pending = (await readApprovals()).filter(({ status }) => status === 'pending');
  return [
    ...end,
    ...pending.map(({ id, request }): Found => ({ about: 'approval', about_id: id, at: request.requested_at })),
  ];
}

const isNewFor = ({ created_at }: StoredSubscription, at: string): boolean => Date.parse(at) >= Date.parse(created_at);

const isDone = async ({ redis }: Deps, job: PushJob): Promise<boolean> => (await redis.exists(doneKey(job))) === 1;

async function deliver(deps: Running, options: SendDeps & { signal: AbortSignal }, job: PushJob): Promise<void> {
  const subscription = await deps.subscriptions.find(job.subscription_id);
  if (subscription === undefined || (await isDone(deps, job))) return;
  const holder = await deps.callers.holderOf(subscription.key);
  // The key was revoked, rotated or has expired: the subscription ends with it.
  if (holder === undefined) return deps.subscriptions.forget(subscription);
  const news = await readNews(deps, holder, job);
  if (news === undefined) return;
  const sent = await sendPush(options, subscription, { ...news, topic: job.about_id });
  if (sent.outcome === 'gone') return deps.subscriptions.forget(subscription);
  if (sent.outcome === 'refused') deps.logger.warn({ ...job, status: sent.status }, 'a push service refused a push');
  await deps.redis.set(doneKey(job), '1', 'EX', doneDays * 86_400);
}
