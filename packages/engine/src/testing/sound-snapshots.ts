import type { LoggedEvent } from '@holdpoint/contract';
import { expect } from 'vitest';
import type { EngineDeps } from '../deps.ts';
import type { RunState } from '../domain/index.ts';
import { hasSnapshot, listSnapshots, pageSnapshots } from '../queries/list-snapshots.ts';

/** What the indexes say of a run's snapshots is what its whole log says, page by page in both directions. */
export async function soundSnapshots(
  deps: Pick<EngineDeps, 'redis'>,
  run: RunState,
  events: readonly LoggedEvent[],
): Promise<void> {
  const expected = inLog(events);
  const listed = await listSnapshots(deps, run);
  expect(listed.map(({ id, by, undone }) => ({ id, by, undone }))).toEqual(expected);
  expect(listed.filter(({ current }) => current).map(({ id }) => id)).toEqual(run.snapshot ? [run.snapshot] : []);
  for (const order of ['asc', 'desc'] as const) {
    const found = [];
    for (let cursor: number | undefined; ; ) {
      const { snapshots, next } = await pageSnapshots(deps, run, { limit: 2, cursor, order });
      found.push(...snapshots);
      if (next === undefined) break;
      cursor = next;
    }
    expect(found).toEqual(order === 'asc' ? listed : listed.toReversed());
  }
  for (const { id } of listed.slice(0, 2)) {
    expect(await hasSnapshot(deps, run, id)).toBe(true);
    expect(await hasSnapshot(deps, run, `${id.slice(0, -1)}-`)).toBe(false);
  }
}

function inLog(events: readonly LoggedEvent[]) {
  const found: { id: string; by: { step?: string; task?: string } | null; undone: boolean }[] = [];
  const beside = new Set<string>();
  const stepOfTask = new Map<string, string>();
  for (const event of events) {
    switch (event.type) {
      case 'step.created':
        if (event.data.beside) beside.add(event.step_id);
        break;
      case 'task.created':
        if (beside.has(event.step_id)) stepOfTask.set(event.data.task_id, event.step_id);
        break;
      case 'run.rewound': {
        const undone = new Set(event.data.undone.map(({ id }) => id));
        const kept = found.filter((snapshot) => !snapshot.undone);
        const first = kept.findIndex(({ by }) => undone.has(by?.step ?? ''));
        if (first !== -1) for (const snapshot of kept.slice(first)) snapshot.undone = true;
        break;
      }
      case 'workspace.snapshotted':
        found.push({ id: event.data.snapshot, by: { step: event.step_id }, undone: false });
        break;
      case 'workspace.captured': {
        const { snapshot, task_id: task } = event.data;
        const step = stepOfTask.get(task);
        found.push({ id: snapshot, by: step === undefined ? { task } : { step, task }, undone: false });
        break;
      }
      case 'workspace.materialised':
      case 'workspace.prepared':
      case 'workspace.drifted':
        found.push({ id: event.data.snapshot, by: null, undone: false });
        break;
      default:
    }
  }
  return found;
}
