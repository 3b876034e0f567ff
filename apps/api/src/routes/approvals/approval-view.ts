import type { Approval } from '@holdpoint/client/wire/approval';
import { fromPayload } from '@holdpoint/engine/blobs/blob-store';
import type { ApprovalView } from '@holdpoint/engine/commands/decide-approval';
import { z } from 'zod';
import type { ApiDeps } from '../../deps.ts';

/** An approval as a person needs to see it before deciding. */
export async function toApproval(deps: Pick<ApiDeps, 'blobs'>, view: ApprovalView): Promise<Approval> {
  const { run, step, approval, args, digest } = view;
  const { request, decision } = approval;
  const preview = request.preview === undefined ? null : await fromPayload(deps.blobs, request.preview);
  return {
    id: approval.id,
    run_id: run.id,
    run_title: run.header.title,
    step_id: step.id,
    kind: request.kind,
    status: approval.status,
    action: { toolset: run.header.toolset, tool: step.call.tool, args: z.json().parse(args), effect: step.effect },
    action_digest: digest,
    preview: z.json().parse(preview),
    risk: request.risk,
    reason: request.reason,
    allowed_decisions: request.allowed_decisions,
    requested_at: request.requested_at,
    expires_at: request.expires_at,
    decision:
      decision === undefined
        ? null
        : {
            decision: decision.decision,
            message: decision.message ?? null,
            by: decision.by,
            decided_at: decision.decided_at,
          },
  };
}
