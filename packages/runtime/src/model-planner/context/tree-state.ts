import type { PlannerInput } from '@holdpoint/engine/worker';
import { WorkspaceError, type Workspaces } from '@holdpoint/workspace';
import { z } from 'zod';
import { cutText } from './cap-result.ts';

const most = 60;

/** The files that a run has changed, at one moment. */
export const treeStateSchema = z.strictObject({
  total: z.int(),
  files: z.array(
    z.strictObject({
      path: z.string(),
      status: z.enum(['added', 'modified', 'deleted']),
      additions: z.int(),
      deletions: z.int(),
    }),
  ),
});
type TreeState = z.infer<typeof treeStateSchema>;

/** The differences from the source, by file. Recorded beside a summary, so that each later request has the same text. */
export async function readTreeState(
  workspaces: Pick<Workspaces, 'diffStat'>,
  { runId, base, snapshot }: Pick<PlannerInput, 'runId' | 'base' | 'snapshot'>,
): Promise<TreeState | undefined> {
  if (base === undefined || snapshot === undefined) return undefined;
  try {
    const { files } = await workspaces.diffStat({ runId, from: base, to: snapshot });
    const shown = files.slice(0, most).map(({ path, status, additions, deletions }) => {
      return { path: cutText(path, 500), status, additions, deletions };
    });
    return { total: files.length, files: shown };
  } catch (error) {
    // A workspace that is gone, or differs in too many lines: the summary stands without it.
    if (error instanceof WorkspaceError && !error.retryable) return undefined;
    throw error;
  }
}
