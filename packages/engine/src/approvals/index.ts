export { awaitDecision } from './await-decision.ts';
export { decideApproval } from './decide-approval.ts';
export { describeEdit } from './describe-edit.ts';
export { judgeStep } from './judge-step.ts';
export { listPendingApprovals } from './list-approvals.ts';
export { previewCall } from './preview-call.ts';
export { type NewApproval, pendingApproval, requestApproval } from './request-approval.ts';
export { type ApprovalView, type PublishApproval, type StepApproval, viewApproval } from './view-approval.ts';
