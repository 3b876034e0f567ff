export { readError } from './infrastructure-error.ts';
export {
  type AbortReason,
  abortReason,
  done,
  doneAt,
  HandBack,
  type JobContext,
  type JobEnd,
  type JobSleep,
  leaveIfAborted,
  lockLost,
  untilCanceled,
} from './job.ts';
export { pauseOrRetry } from './pause-or-retry.ts';
