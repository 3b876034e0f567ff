export { completeIds } from './complete-ids.ts';
export { type IdKind, idKinds, runsWithTasks } from './find-id.ts';
export { shortId } from './short-id.ts';
