export { whileFrozen } from './begin-approved.ts';
export { beginApprovedTask, bindTask, meetsApproved, refuseChanged, settleCall } from './begin-approved-task.ts';
export { type Again, beginAttempt } from './begin-attempt.ts';
export { appendWithTask } from './begin-task.ts';
export { dropChanges, dropped, secretWritten } from './capture-call.ts';
export { tookSince } from './determinism.ts';
export { appendForTheRecord, openConnectionRecorder } from './record-connections.ts';
export { recoverAttempt } from './recover-attempt.ts';
export { settleAndRelease } from './release-next.ts';
