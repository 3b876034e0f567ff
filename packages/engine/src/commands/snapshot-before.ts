import type { EngineDeps } from '../deps.ts';
import { readWholeLog } from '../log/read-log.ts';

/** The workspace as it was before the first of some steps changed it. */
export interface Before {
  snapshot: string;
  /** Background commands whose changes are in it. */
  captured: Set<string>;
}

/**
 * Looks it up in the log: what background commands changed in between belongs to no step, and is told there alone.
 * @param began the snapshot that the run began with
 * @param undone ids of the steps
 */
export async function snapshotBefore(
  deps: Pick<EngineDeps, 'redis'>,
  runId: string,
  { began, undone }: { began: string; undone: ReadonlySet<string> },
): Promise<Before> {
  const captured = new Set<string>();
  let snapshot = began;
  for await (const event of readWholeLog(deps.redis, runId)) {
    switch (event.type) {
      case 'run.rewound':
        snapshot = event.data.snapshot;
        for (const id of event.data.lost_tasks ?? []) captured.delete(id);
        break;
      case 'workspace.captured':
        snapshot = event.data.snapshot;
        captured.add(event.data.task_id);
        break;
      case 'workspace.drifted':
        snapshot = event.data.snapshot;
        break;
      case 'workspace.snapshotted':
        if (undone.has(event.step_id)) return { snapshot, captured };
        snapshot = event.data.snapshot;
        break;
      default:
    }
  }
  return { snapshot, captured };
}
