import { isTaskOver } from '@holdpoint/contract';
import type { Approval } from '@holdpoint/contract/wire';
import { type ApprovalView, Damaged, readEntry } from '@holdpoint/engine';
import type { ApiDeps } from '../../deps.ts';
import { toProblem } from '../../errors/to-problem.ts';
import { hiddenFiles } from './hidden-files.ts';

type UncertainFiles = Pick<Approval, 'may_write' | 'unknown' | 'repositories' | 'files_unread'>;
type Deps = Pick<ApiDeps, 'engine' | 'workspaces' | 'logger'>;

const nothing = { may_write: [], unknown: [], repositories: [], files_unread: null };

/**
 * The dangers hidden from a reader of the call: commands with the power to change the call's files, and files without displayable content.
 * A damaged run still shows its approval, with a list of the unreadable parts.
 */
export async function uncertainFiles(deps: Deps, view: ApprovalView): Promise<UncertainFiles> {
  // The plan of a publish names both. A decided approval is not about the current files.
  if (view.subject !== 'step' || view.approval.status !== 'pending') return nothing;
  const [writers, hidden] = await Promise.all([
    readEntry(view.run.id, () => mayWrite(deps, view)),
    readEntry(view.run.id, () => hiddenFiles(deps, view)),
  ]);
  const failed = [writers, hidden].filter((one) => one instanceof Damaged);
  for (const { id, error } of failed)
    deps.logger.warn({ run_id: id, err: error }, 'the files of a held call cannot be read');
  return {
    may_write: writers instanceof Damaged ? [] : writers,
    ...(hidden instanceof Damaged ? { unknown: [], repositories: [] } : hidden),
    files_unread: failed[0] === undefined ? null : toProblem(failed[0].error).detail,
  };
}

async function mayWrite({ engine }: Pick<Deps, 'engine'>, { run }: ApprovalView) {
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
