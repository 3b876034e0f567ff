import { isTaskOver, type PublishPlan } from '@holdpoint/contract';
import type { Approval } from '@holdpoint/contract/wire';
import type { ApprovalState, ApprovalView, PublishApproval } from '@holdpoint/engine';
import { WorkspaceError } from '@holdpoint/workspace';
import type { ApiDeps } from '../../deps.ts';

/** An approval as a person needs to see it before deciding. */
export async function toApproval(deps: Pick<ApiDeps, 'engine' | 'workspaces'>, view: ApprovalView): Promise<Approval> {
  const { run, approval, digest } = view;
  const { request, decision } = approval;
  const preview = request.preview === undefined ? null : await deps.engine.read(request.preview);
  return {
    id: approval.id,
    run_id: run.id,
    run_title: run.header.title,
    step_id: view.subject === 'step' ? view.step.id : null,
    kind: request.kind,
    status: approval.status,
    action: view.subject === 'step' ? callOf(view) : await publishOf(deps, view),
    action_digest: digest,
    preview,
    risk: request.risk,
    reason: request.reason,
    allowed_decisions: request.allowed_decisions,
    requested_at: request.requested_at,
    expires_at: request.expires_at,
    ...(await whatItMeets(deps, view)),
    changed: request.changed ?? null,
    superseded_by: approval.superseded ?? null,
    decision:
      decision === undefined
        ? null
        : {
            decision: decision.decision,
            args: await editedArgs(deps, view),
            message: decision.message ?? null,
            by: decision.by,
            decided_at: decision.decided_at,
          },
  };
}

/** An edit of a publish resolves its conflicts. */
async function editedArgs(
  deps: Pick<ApiDeps, 'engine'>,
  { subject, approval }: ApprovalView,
): Promise<Approval['action']['args']> {
  const { decision } = approval;
  if (decision?.decision !== 'edit' || decision.args === undefined) return null;
  const args = await deps.engine.read(decision.args);
  return subject === 'step' ? args : { resolutions: args };
}

const callOf = ({ run, step, args, effect }: Extract<ApprovalView, { subject: 'step' }>): Approval['action'] => ({
  toolset: run.header.toolset,
  tool: step.call.tool,
  args,
  effect,
});

/** A publish is not a tool call, but an approval shows it as one. */
const publishOf = async (deps: Pick<ApiDeps, 'engine'>, view: PublishApproval): Promise<Approval['action']> => ({
  toolset: 'holdpoint',
  tool: 'publish',
  args: await askedOf(deps, view),
  effect: 'external',
});

/** The run keeps its last publish request. For an earlier approval, the plan has the request. */
async function askedOf(
  deps: Pick<ApiDeps, 'engine'>,
  { run, approval }: PublishApproval,
): Promise<Approval['action']['args']> {
  if (run.publish_approval === approval.id && run.publish_request !== undefined) {
    const { snapshot: _, ...asked } = run.publish_request;
    return asked;
  }
  const target = (await planOf(deps, approval))?.target;
  if (target?.type !== 'git') return {};
  const { branch, message, author } = target;
  return { branch, message, author };
}

/** What the publish that waits for this approval would do; undefined when the approval is not about a publish. */
export async function planOf(
  { engine }: Pick<ApiDeps, 'engine'>,
  { request }: ApprovalState,
): Promise<PublishPlan | undefined> {
  if (request.preview === undefined) return undefined;
  const shown = await engine.read(request.preview);
  return 'kind' in shown ? undefined : shown;
}

type Met = Pick<Approval, 'may_write' | 'unknown' | 'repositories'>;

/** What a person cannot see in the call itself: which commands may change the files it will meet, and which of those files cannot be shown. */
async function whatItMeets(deps: Pick<ApiDeps, 'engine' | 'workspaces'>, view: ApprovalView): Promise<Met> {
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
