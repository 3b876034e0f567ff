import type { Approval } from '@holdpoint/contract/wire';
import type { ApprovalView, PublishApproval } from '@holdpoint/engine';
import type { ApiDeps } from '../../deps.ts';
import { planOf } from './publish-plan.ts';
import { whatItMeets } from './what-it-meets.ts';

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
async function publishOf(deps: Pick<ApiDeps, 'engine'>, view: PublishApproval): Promise<Approval['action']> {
  return { toolset: 'holdpoint', tool: 'publish', args: await askedOf(deps, view), effect: 'external' };
}

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
