import { isTaskOver } from '@holdpoint/contract';
import type { Approval } from '@holdpoint/contract/wire';
import type { ApprovalView } from '@holdpoint/engine';
import { WorkspaceError } from '@holdpoint/workspace';
import type { ApiDeps } from '../../deps.ts';

type Met = Pick<Approval, 'may_write' | 'unknown' | 'repositories'>;

/** What a person cannot see in the call itself: which commands may change the files it will meet, and which of those files cannot be shown. */
export async function whatItMeets(deps: Pick<ApiDeps, 'engine' | 'workspaces'>, view: ApprovalView): Promise<Met> {
  // The plan of a publish names both. A decided approval is not about the current files.
  if (view.subject !== 'step' || view.approval.status !== 'pending') {
    return { may_write: [], unknown: [], repositories: [] };
  }
  const [may_write, met] = await Promise.all([mayWrite(deps, view), hiddenFrom(deps, view)]);
  return { may_write, ...met };
}

async function mayWrite({ engine }: Pick<ApiDeps, 'engine'>, { run }: ApprovalView) {
  if (run.open_tasks === 0) return [];
  // Sub-agents have trees of their own.
  const tasks = (await engine.tasks.list(run.id)).filter(({ about, status }) => {
    return about.kind === 'shell' && !isTaskOver(status);
  });
  return Promise.all(
    tasks.map(async ({ id, about, status, started_at }) => {
      const spec = await engine.read(about.spec);
      const command = 'command' in spec ? spec.command : about.title;
      return { task_id: id, command, status, since: started_at ?? null };
    }),
  );
}

/** What a person cannot see in the files. */
async function hiddenFrom(
  { workspaces }: Pick<ApiDeps, 'workspaces'>,
  { run }: ApprovalView,
): Promise<Omit<Met, 'may_write'>> {
  const { id: runId, snapshot, base: since } = run;
  const nothing = { unknown: [], repositories: [] };
  if (snapshot === undefined || since === undefined) return nothing;
  try {
    const input = { runId, snapshot, since };
    const [unknown, repositories] = await Promise.all([workspaces.unknown(input), workspaces.repositories(input)]);
    return { unknown, repositories };
  } catch (error) {
    // The workspace is not on this host or was discarded, so the run cannot continue either.
    if (error instanceof WorkspaceError && error.code === 'EWORKSPACEMISSING') return nothing;
    throw error;
  }
}
