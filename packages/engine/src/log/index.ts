export { ancestorsOf } from './ancestors.ts';
export { type Appended, append } from './append.ts';
export { countRepair } from './count-repair.ts';
export {
  claimOwner,
  idsAfter,
  idsBefore,
  isApprovalListed,
  listTenants,
  ownerOf,
  pagesOf,
  pagesOfRuns,
  tenantOf,
  trackActive,
  trackApproval,
  trackRun,
  untrackActive,
  untrackApproval,
} from './indexes.ts';
export {
  activeIndex,
  approvalIndexOf,
  controlChannel,
  healthKey,
  idempotencyKey,
  lockKey,
  noticeIndex,
  placeIndex,
  repairsKey,
  ruleIndexOf,
  runIndexOf,
} from './keys.ts';
export { fromPayload, shownPayload, toPayload } from './payload.ts';
export { prime, takePrimed } from './primed-steps.ts';
export { lastEventAt, lastEventTimes, readLog, readRawLog, readWholeLog, seqBefore } from './read-log.ts';
export { readSpec } from './read-spec.ts';
export {
  fieldsOfStep,
  isReserved,
  readAll,
  readApproval,
  readCallsKey,
  readFields,
  readReceived,
  readRule,
  readRun,
  readStep,
  readSteps,
  readStepWithApproval,
  readTask,
  readTasks,
  readTurnSteps,
} from './read-state.ts';
export { retryWhileContended } from './retry-while-contended.ts';
