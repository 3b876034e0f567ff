export { atLeast, isSameBlockage, isSameReport, noUsage } from './agent-report.ts';
export { asPlanned, specThen } from './as-planned.ts';
export { timesOf } from './call-times.ts';
export {
  type Decider,
  decidesAlone,
  isSamePerson,
  needsSeveral,
  type Panel,
  panelOf,
  termsOf,
  votesOn,
  whatIsMissing,
  whyNoDelegation,
  whyNot,
} from './deciders.ts';
export { actionDigest, callDigest, coveringDigests } from './digest.ts';
export { EngineError } from './errors.ts';
export { forkField, namedField, runField } from './fields/run.ts';
export { stepField } from './fields/step.ts';
export { grantsOf, toGrant } from './grants.ts';
export { cursorAt, cursorFrom, earlierOf, isAbandoned, laterOf, timeOfId } from './id-time.ts';
export {
  addUp,
  type Bound,
  boundBy,
  holdsPublish,
  judgeCall,
  type OperatorInForce,
  policiesInForce,
  policiesOf,
  shortDigest,
  stricter,
  withCurrent,
} from './judge-call.ts';
export { denialOf, forbiddenChange, judgeGrants } from './judge-grants.ts';
export {
  type BudgetUse,
  budgetReached,
  budgetsOf,
  limitReached,
  reportOf,
  usedByTree,
  usedSinceResume,
} from './limits-reached.ts';
export { isLooping, loopWarning, trackRepetition } from './loop-detection.ts';
export { narrowSpec, specOfAgent, withOpenHosts } from './narrow-spec.ts';
export { giveNotice, nextNotice, noticesGiven } from './notices.ts';
export { remembersRejection } from './remembered-rejection.ts';
export {
  type ApprovalState,
  parseAllApprovals,
  parseAllSteps,
  parseAllTasks,
  parseRun,
  type RuleState,
  type RunState,
  type StepState,
  scopeOf,
  type TaskState,
} from './state.ts';
export { changedTools, toolsChanged } from './tool-versions.ts';
export { agentsAre, heads, notCanceled, openTasksAre, seqIs, type Transition } from './transition.ts';
export { askAgain, editorsOf } from './transitions/ask-again.ts';
export {
  askQuestion,
  type NewQuestion,
  nextRound,
  stopWaiting,
  totalIs,
  waitForAgents,
} from './transitions/ask-question.ts';
export {
  type AttemptResult,
  countConnections,
  deferAttempt,
  recordConnection,
  recordGraphProgress,
  recordIndeterminate,
  recordModelUse,
  retryAttempt,
  settleAttempt,
  settleBegun,
  startAttempt,
} from './transitions/attempt.ts';
export { awaitOutside, type NewWait, type OutsideState } from './transitions/await-outside.ts';
export {
  canceledError,
  cancelStep,
  cancelWaitingCall,
  requestStepCancel,
  settleCanceled,
  waitingCallError,
} from './transitions/cancel-step.ts';
export {
  afterModelWait,
  askModelNow,
  compact,
  countUnanswered,
  instruct,
  isWaitingForModel,
  noNoticeSince,
  notify,
  pauseAfterTurn,
  waitForModel,
} from './transitions/conversation.ts';
export { createRun, type Fork, recordFork } from './transitions/create-run.ts';
export { type Decision, decide, delegate, expire, isOutsideQuestion, vote } from './transitions/decide.ts';
export { asksOutside, type Gate, gateSteps, mayWrite, releasable, runsBeside } from './transitions/gate-steps.ts';
export { holdAttempt } from './transitions/hold-attempt.ts';
export { isMarkedAs, markAs } from './transitions/mark-run.ts';
export {
  endIdle,
  finishOpen,
  type ReceivedCalls,
  receiveAndPlan,
  receiveCalls,
  resumedByCalls,
  waitForCalls,
} from './transitions/open-run.ts';
export { beginPrepare, recordPrepared, recordPrepareFailed } from './transitions/prepare.ts';
export { failPreview, replaceByPreview, requestPreview } from './transitions/preview-approval.ts';
export {
  decidePublish,
  expirePublish,
  type Hold,
  parkPublish,
  recordConflict,
  recordDiscarded,
  recordOnlyValidated,
  recordPublished,
  recordPublishFailed,
  recordValidating,
  recordValidation,
  requestDiscard,
  requestPublish,
  requestValidating,
} from './transitions/publication.ts';
export { inheritTurn, type Rewind, rewindRun } from './transitions/rewind-run.ts';
export { revokeRule } from './transitions/rule.ts';
export {
  cancelRun,
  closeRun,
  endRun,
  extendRun,
  finishCancel,
  finishClosing,
  type PlannerOutput,
  pauseByHand,
  pausedByHand,
  pauseRun,
  planTurn,
  type RunEnd,
  recordMessage,
  recordProgress,
  recordRepair,
  resumed,
  resumeRun,
  startRun,
  type TurnStep,
  wakeEnded,
} from './transitions/run-life.ts';
export { distrustTree, leaseToDrop, recordRestored, takeLease } from './transitions/take-over.ts';
export {
  captureTask,
  dropCapture,
  endAgent,
  endTask,
  exitAgent,
  exitTask,
  failMerge,
  holdForCapture,
  holdForMerge,
  killedOutcome,
  loseTask,
  lostOutcome,
  recordMerge,
  reportAgent,
  requestKill,
  reserveAgentFor,
  sendInput,
  startAgent,
  startTask,
  type TaskResult,
} from './transitions/tasks.ts';
export { unblocked } from './turn-order.ts';
