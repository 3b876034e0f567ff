import { openUnsealedSince } from '@holdpoint/engine/audit';
import { boundLabel, type Metrics } from '@holdpoint/telemetry';
import type { ServerDeps } from '../deps.ts';
import { countJobs } from '../routes/operations/read-queues.ts';
import { readWorkers } from '../routes/operations/read-workers.ts';
import { atMostOften } from './at-most.ts';

type Deps = Pick<ServerDeps, 'openEngine' | 'redis' | 'queues' | 'logger' | 'now'>;

const periodicWork = ['sweep', 'maintenance'] as const;

/** Runs, approvals, queues, workers and periodic work of the whole installation. Where Redis does not answer, they are absent. */
export function observeRuns(metrics: Metrics, deps: Deps): void {
  const { reconciler } = deps.openEngine;
  const totals = unlessAway(() => reconciler.totals());
  const reasonOf = boundLabel({ most: 60 });
  metrics.observe('runs', async () => {
    const found = await totals();
    if (found === undefined) return [];
    const counts = new Map<string, { value: number; labels: { state: string; reason?: string } }>();
    for (const state of ['queued', 'running', 'canceling']) counts.set(state, { value: 0, labels: { state } });
    for (const { state, reason: code, count } of found.active) {
      const reason = code === undefined ? undefined : reasonOf(code);
      const key = reason === undefined ? state : `${state} ${reason}`;
      const counted = counts.get(key) ?? { value: 0, labels: { state, ...(reason !== undefined && { reason }) } };
      counts.set(key, { ...counted, value: counted.value + count });
    }
    return [...counts.values(), { value: found.ended, labels: { state: 'ended' } }];
  });
  metrics.observe('runsPausedOldest', async () => {
    const found = await totals();
    return found === undefined ? [] : [{ value: ageOf(deps, found.oldestPauseAt) }];
  });
  metrics.observe('approvalsPending', async () => one((await totals())?.approvals));
  metrics.observe('approvalsOldest', async () => {
    const found = await totals();
    return found === undefined ? [] : [{ value: ageOf(deps, found.oldestApprovalAt) }];
  });
  metrics.observe('approvalsExpiry', async () => {
    const at = (await totals())?.nextExpiryAt;
    return at === undefined ? [] : [{ value: Math.max(0, (deps.now() - at) / -1000) }];
  });

  const unsealedSince = openUnsealedSince(deps.redis);
  const audit = unlessAway(async () => ({ since: await unsealedSince() }));
  metrics.observe('auditLag', async () => {
    const found = await audit();
    return found === undefined ? [] : [{ value: ageOf(deps, found.since) }];
  });

  const queues = unlessAway(() => countJobs(deps.queues));
  metrics.observe('queueJobs', async () =>
    ((await queues()) ?? []).flatMap(({ name: queue, backlog, active, parked }) => [
      { value: backlog, labels: { queue, state: 'backlog' } },
      { value: active, labels: { queue, state: 'active' } },
      { value: parked, labels: { queue, state: 'parked' } },
    ]),
  );
  const workers = unlessAway(() => readWorkers(deps));
  metrics.observe('workers', async () => one((await workers())?.length));
  metrics.observe('workersSlots', async () =>
    one((await workers())?.reduce((sum, { concurrency }) => sum + concurrency, 0)),
  );
  const places = unlessAway(() => reconciler.places());
  const ofKinds = async (name: 'used' | 'of') => {
    const found = await places();
    return found === undefined
      ? []
      : (['working', 'asking'] as const).map((kind) => ({ value: found[kind][name], labels: { kind } }));
  };
  metrics.observe('places', () => ofKinds('of'));
  metrics.observe('placesUsed', () => ofKinds('used'));
  metrics.observe('placesWaiting', async () => one((await places())?.waiting));
  const periodic = unlessAway(() => Promise.all(periodicWork.map((work) => reconciler.lastDone(work))));
  metrics.observe('periodicAge', async () =>
    ((await periodic()) ?? []).flatMap((last, at) =>
      last === undefined ? [] : [{ value: ageOf(deps, last.at), labels: { work: String(periodicWork[at]) } }],
    ),
  );
}

const unlessAway = <Value>(read: () => Promise<Value>): (() => Promise<Value | undefined>) =>
  atMostOften(() => read().catch(() => undefined));

const one = (value: number | undefined) => (value === undefined ? [] : [{ value }]);

/** Seconds. */
const ageOf = ({ now }: Deps, at: number | undefined): number =>
  at === undefined ? 0 : Math.max(0, (now() - at) / 1000);
