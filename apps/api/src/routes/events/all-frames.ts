import { approvalChanged, presenceChanged, runChanged } from '@holdpoint/contract/wire';
import { Damaged, notificationPattern, readEntry } from '@holdpoint/engine';
import type { ApiDeps } from '../../deps.ts';
import { showDamaged } from '../../errors/to-problem.ts';
import { frame, heartbeat, opening } from '../../live/stream.ts';
import { toRun } from '../runs/run-view.ts';
import { ApprovalChanges } from './approval-changes.ts';

/**
 * Largest difference between clocks: of the workers, the source of the events' times, and of API processes, the source of the stream's ids.
 */
const skewMs = 60_000;

/** Whether the id lies in the future of every API process: a reader continuing from such an id would miss every change until then. */
export const isYetToCome = (id: number, now: number): boolean => id > now + skewMs;

/**
 * Each changed run of the tenant, in its state at the time of the frame, and for callers who may read approvals what happened to them. A slow reader gets fewer frames and no outdated frames: the server keeps
 * only the ids of the changed runs.
 * @param lastId of a frame: runs changed since then come first. The id of a frame is a time before which nothing is missing.
 */
export async function* allFrames(
  deps: Pick<ApiDeps, 'engine' | 'notifications' | 'presence' | 'heartbeatMs' | 'now' | 'logger' | 'holder'>,
  lastId: number | undefined,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const subscription = await deps.notifications.subscribeToAll(notificationPattern);
  let complete = lastId ?? deps.now();
  let missedSince = lastId;
  const approvals = deps.holder.scopes.includes('approvals:read') ? new ApprovalChanges(deps) : undefined;
  const seen = approvals && watchPresence(deps, () => subscription.notify(presenceNews));
  try {
    yield opening(complete);
    let quietUntil = deps.now() + deps.heartbeatMs;
    while (!signal.aborted) {
      const timeoutMs = missedSince === undefined ? Math.max(quietUntil - deps.now(), 0) : 0;
      const notified = new Set(await subscription.next({ timeoutMs, signal }));
      notified.delete(presenceNews);
      for (const data of seen?.take() ?? []) yield frame({ event: presenceChanged, data });
      const takenAt = subscription.isIntact() ? deps.now() : complete;
      missedSince = earlier(missedSince, subscription.takeLoss());
      for await (const id of changed(deps, notified, missedSince)) {
        if (signal.aborted) return;
        const run = await readEntry(id, () => deps.engine.runs.find(id));
        if (run instanceof Damaged) showDamaged(deps, [run]);
        if (run === undefined || run instanceof Damaged) continue;
        yield frame({ event: runChanged, id: complete, data: toRun(run) });
        const since = Math.min(complete, missedSince ?? complete) - skewMs;
        for (const change of (await approvals?.of(id, since)) ?? []) {
          yield frame({ event: approvalChanged, id: complete, data: change });
        }
        quietUntil = deps.now() + deps.heartbeatMs;
      }
      missedSince = undefined;
      complete = Math.max(complete, takenAt);
      // Runs of other tenants change nothing here, the heartbeat included.
      if (deps.now() < quietUntil || signal.aborted) continue;
      yield heartbeat(complete);
      quietUntil = deps.now() + deps.heartbeatMs;
    }
  } finally {
    seen?.close();
    subscription.close();
  }
}

/** Among the ids of runs that a subscription names. */
const presenceNews = 'presence';

/** The approvals of the caller's tenant whose viewers have changed: each once, with its viewers at the time of the frame. */
function watchPresence({ presence, holder }: Pick<ApiDeps, 'presence' | 'holder'>, wake: () => void) {
  const { tenant } = holder.caller;
  const changed = new Set<string>();
  const close = presence.listen((of, approvalId) => {
    if (of !== tenant) return;
    changed.add(approvalId);
    wake();
  });
  const take = () => {
    const ids = [...changed];
    changed.clear();
    return ids.map((id) => presence.of(tenant, id));
  };
  return { take, close };
}

/** The notified runs, and the runs with a possibly lost notification. */
async function* changed(
  { engine }: Pick<ApiDeps, 'engine'>,
  notified: ReadonlySet<string>,
  missedSince: number | undefined,
): AsyncGenerator<string> {
  yield* notified;
  if (missedSince === undefined) return;
  for await (const id of engine.runs.changedSince(missedSince - skewMs)) if (!notified.has(id)) yield id;
}

const earlier = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);
