export { createDurably } from '@holdpoint/process/durable-files';
export {
  type ApprovalFilter,
  type ApprovalView,
  type Confirm,
  cutParts,
  decisionOf,
  defaultRuleSeconds,
  type ListedRule,
  longestRuleSeconds,
  type PublishApproval,
  proposedRule,
  type StepApproval,
  whyNotRemembered,
} from './approvals/index.ts';
export { showsResult } from './approvals/result-preview.ts';
export { openBlobStore } from './blobs/blob-store.ts';
export { ceilingsFrom, defaultWorkerSteps } from './ceilings-from.ts';
export type { Idempotency } from './commands/index.ts';
export {
  type DeliverDeps,
  type DeliveryStore,
  deliverTo,
  openDeliveryStore,
  type ReceiverState,
  receiverId,
  type Sent,
  type StoredReceiver,
  startMarking,
} from './deliveries/index.ts';
export type { EngineDeps, Retention } from './deps.ts';
export { noUsage } from './domain/agent-report.ts';
export { aboveCeilings, type Ceilings, cutAtCeilings } from './domain/ceilings.ts';
export { EngineError, type EngineErrorCode } from './domain/errors.ts';
export { holdsPublish, type OperatorInForce, withCurrent } from './domain/judge-call.ts';
export { usedByTree } from './domain/limits-reached.ts';
export { newId, newIdBy } from './domain/new-id.ts';
export type { ApprovalState, RunState, StepState, TaskState } from './domain/state.ts';
export { waitingCallError } from './domain/transitions/cancel-step.ts';
export { isWaitingForModel } from './domain/transitions/conversation.ts';
export {
  type EvalLookDeps,
  type EvalState,
  type EvalStore,
  type Forking,
  lookAtEval,
  openEvalStore,
  type Reading,
  type StoredEval,
} from './evals/index.ts';
export { addEvent, openSpans, openTrace } from './events/open-trace.ts';
export type { PeriodicWork } from './handlers/periodic-work.ts';
export { Damaged, readEntry, splitDamaged } from './log/damaged.ts';
export {
  liveChannel,
  liveJoinChannel,
  notificationChannel,
  notificationPattern,
  runOfKey,
  workerIndex,
  workerKey,
} from './log/keys.ts';
export { type Engine, type OpenEngine, openEngine } from './open-engine.ts';
export { type OutputStore, openOutputStore } from './outputs/output-store.ts';
export {
  challengeOf,
  challengeToAdd,
  checkRegistration,
  counterOf,
  passkeyAlgorithms,
  whyUnproven,
} from './passkeys/index.ts';
export {
  type OperatorPolicyReader,
  type OperatorPolicyStatus,
  openOperatorPolicy,
  policyFileFrom,
  readPolicyFile,
} from './policies/operator-policy.ts';
export type { Logger } from './ports/index.ts';
export { setLogLevel, watchLogLevel } from './processes/log-level.ts';
export { answerQuestions, askWorker } from './processes/questions.ts';
export { serverLooks } from './processes/server-looks.ts';
export { openPullStore, type PullStore, roundsOf, type StoredPull } from './pull-requests/index.ts';
export type {
  Attempt,
  NumberedStep,
  PlaceWait,
  PlannedTurn,
  RunSnapshot,
  StepsQuery,
  WaitingCall,
} from './queries/index.ts';
export { TraceIds } from './queries/trace-ids.ts';
export { type DeliveryQueue, openDeliveryQueue } from './queues/delivery-queue.ts';
export { type EvalJob, type EvalQueue, openEvalQueue } from './queues/eval-queue.ts';
export { openPullWaker } from './queues/pull-queue.ts';
export { openPushQueue, type PushJob } from './queues/push-queue.ts';
export { openQueues, type Queues, queueNames } from './queues/queues.ts';
export { openScheduleQueue, type ScheduleJob, type ScheduleQueue } from './queues/schedule-queue.ts';
export { personNamed, readQuotas, readUse, writeQuotas } from './quotas/index.ts';
export {
  lookAtSchedule,
  openClockwork,
  openScheduleStore,
  pauseIfFailing,
  type RunEnd,
  type ScheduleState,
  type ScheduleStore,
  ScheduleTimesError,
  type StoredSchedule,
  type Submitted,
  type Submitting,
} from './schedules/index.ts';
export { openSharedClock } from './shared-clock.ts';
export {
  spanIdOf,
  spanKeys,
  type TraceState,
  traceIdOf,
} from './spans/index.ts';
