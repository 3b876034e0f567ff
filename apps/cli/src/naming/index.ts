export { completeIds } from './complete-ids.ts';
export { findId, type IdKind, idKinds } from './find-id.ts';
export { shortId } from './short-id.ts';
