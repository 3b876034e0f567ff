import type { RunState } from '@holdpoint/engine';
import type { ApiDeps } from '../../deps.ts';
import { ApiProblem } from '../../errors/api-problem.ts';
import { toRun } from '../runs/run-view.ts';

/** Why the publish failed or waits for conflicts to be resolved; undefined in other states. */
export async function refusalOf(deps: Pick<ApiDeps, 'engine'>, run: RunState): Promise<ApiProblem | undefined> {
  switch (run.publication) {
    case 'conflicted':
      return conflict(run);
    case 'parked': {
      const id = run.publish_approval;
      const approval = id === undefined ? undefined : await deps.engine.approvals.find(run.id, id);
      return approval?.request.kind === 'conflict' ? conflict(run, approval.id) : undefined;
    }
    case 'failed':
    case 'rejected':
      return failure(run);
    default:
      return undefined;
  }
}

function conflict(run: RunState, approvalId?: string): ApiProblem {
  const { conflicts } = toRun(run).publication;
  const count = conflicts.length === 1 ? 'one conflict' : `${conflicts.length} conflicts`;
  const next =
    approvalId === undefined
      ? undefined
      : `Read GET /v1/approvals/${approvalId} for the versions and …/conflict?path=… for the lines, and decide there what becomes of each file; or reject it and publish to another branch.`;
  return new ApiProblem('publish_conflict', `the source is unchanged: ${count}`, {
    conflicts,
    approval_id: approvalId,
    next,
  });
}

const ownCodes = ['validator_failed', 'publish_rejected', 'publish_expired'] as const;

function failure(run: RunState): ApiProblem {
  const { reason } = toRun(run).publication;
  const code = ownCodes.find((one) => one === reason?.code) ?? 'publish_failed';
  return new ApiProblem(code, reason?.message ?? `the publish of ${run.id} ${run.publication}`, { next: reason?.next });
}
