import { nativeToolset } from '@holdpoint/contract';
import type { PlannerInput, WorkspacePort } from '@holdpoint/engine/worker';
import type { Workspaces } from '@holdpoint/workspace';

interface Deps {
  workspaces: Pick<Workspaces, 'newestEpoch'>;
  trees: Pick<WorkspacePort, 'differenceFrom'>;
}

const mostNamed = 10;

/**
 * A sentence about files that an ended agent with its own tools changed after its last recorded call. No snapshot has these changes, so no diff and no
 * publish has them. Undefined when the files are those of the last snapshot.
 */
export async function leftOverText(
  { workspaces, trees }: Deps,
  { runId, spec, snapshot, scope }: PlannerInput,
): Promise<string | undefined> {
  const { goal } = spec;
  if (goal.planner !== 'model' || nativeToolset(goal.outside_agent) === undefined) return undefined;
  if (snapshot === undefined) return undefined;
  try {
    const epoch = await workspaces.newestEpoch(runId);
    const message = 'after the last call of an agent';
    const found = await trees.differenceFrom({ runId, epoch, parent: snapshot, decided: snapshot, message, scope });
    return found && textOf(found.changes.slice(0, mostNamed), found.total);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return `Holdpoint could not compare the files with the last snapshot: ${why}`;
  }
}

function textOf(changes: readonly { path: string }[], total: number): string {
  // As JSON: the agent chooses the names, and a name may hold a line of text.
  const names = changes.map(({ path }) => JSON.stringify(path)).join(', ');
  const more = total > changes.length ? ` and ${total - changes.length} more` : '';
  const files = total === 1 ? 'one path' : `${total} paths`;
  return `The agent changed ${files} beside its recorded calls: ${names}${more}. No snapshot, diff or publish has this change.`;
}
