export { isBound, whileFrozen } from './begin-approved.ts';
export { beginApprovedTask, bindTask, meetsApproved, refuseChanged, settleCall } from './begin-approved-task.ts';
export { type Again, beginAttempt } from './begin-attempt.ts';
export { letGo } from './let-go.ts';
export { endCanceled, recoverAttempt } from './recover-attempt.ts';
export { settleAndRelease } from './release-next.ts';
