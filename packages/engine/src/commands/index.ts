export { requestCancelOfStep } from './cancel-step.ts';
export { finishRun } from './finish-run.ts';
export { forkRun } from './fork-run.ts';
export { markRun } from './mark-run.ts';
export { retryRun } from './retry-run.ts';
export { sendCalls } from './send-calls.ts';
export { sendMessage } from './send-message.ts';
export {
  getRun,
  requestCancel,
  requestDiscarding,
  requestPause,
  requestPublication,
  requestResume,
  requestValidation,
} from './steer-run.ts';
export { findSubmitted, type Idempotency, type Submission, submitRun } from './submit-run.ts';
export { undoSteps } from './undo-run.ts';
