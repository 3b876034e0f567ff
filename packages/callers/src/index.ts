export { type Callers, openCallers } from './callers.ts';
export type { Admission } from './check-key.ts';
export type { OpenStream } from './count-stream.ts';
export { CallerError, type CallerErrorCode, RateError } from './errors.ts';
export { createKeyText, hasKeyForm } from './key-text.ts';
export { changedChannel } from './keys.ts';
export { type CallerLimits, callerLimitsFrom } from './limits.ts';
export type { Holder, KeyRecord } from './record.ts';
export { longestSessionMs } from './sessions.ts';
