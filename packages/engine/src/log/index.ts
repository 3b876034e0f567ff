export { ancestorsOf } from './ancestors.ts';
export { type Appended, type AppendedParts, append, appendParts, asWhole } from './append.ts';
export {
  correctHistory,
  deciderList,
  decidersOf,
  hasSoundHistory,
  listAsked,
  statusList,
  unlistAsked,
} from './approval-history.ts';
export { ensureFacets, firstExpiry, labelFacet, listFacets } from './approval-lists.ts';
export { countRepair } from './count-repair.ts';
export { Damaged, readEntry, splitDamaged } from './damaged.ts';
export {
  claimOwner,
  idsBefore,
  isApprovalListed,
  ownerOf,
  tenantOf,
  trackActive,
  trackApproval,
  trackRun,
  untrackActive,
  untrackApproval,
} from './indexes.ts';
export {
  activeIndex,
  approvalFacetIndexOf,
  approvalIndexOf,
  controlChannel,
  decidedIndexOf,
  healthKey,
  historyIndexOf,
  idempotencyKey,
  idleFactsKey,
  labelIndexOf,
  lockKey,
  lookIndex,
  noticeIndex,
  placeIndex,
  repairsKey,
  ruleIndexOf,
  runIndexOf,
  slicesKey,
  stateKey,
  statusIndexOf,
} from './keys.ts';
export { idsAfter, listTenants, pagesOf, pagesOfRuns } from './pages.ts';
export { rewindsOf, type SnapshotPlace, snapshotPlaces, turnsIn } from './read-indexes.ts';
export {
  lastEventAt,
  lastEventTimes,
  type RawEntry,
  readEvents,
  readLog,
  readLogEntries,
  readRawLog,
  readRawLogBackwards,
  readRawLogEntries,
  readWholeLog,
  seqBefore,
} from './read-log.ts';
export { fromPayload, readSpec, shownPayload, toPayload, toResult, withResult } from './read-spec.ts';
export {
  type CallCancel,
  isReserved,
  readAll,
  readApproval,
  readApprovals,
  readCallCancels,
  readCallsKey,
  readFields,
  readReceived,
  readRule,
  readRun,
  readRuns,
  readStep,
  readSteps,
  readStepWithApproval,
  readTask,
  readTasks,
  readTurnSteps,
} from './read-state.ts';
export { readManySteps, readTurns, type StepFacts } from './read-turns.ts';
export { checkTries, retryWhileContended } from './retry-while-contended.ts';
export { correctLists, countByStanding, countLabelled, countListed, mostCounted, pick } from './run-lists.ts';
export { foldTitle, searchTitles, type TitleSearch } from './search-titles.ts';
export { cacheStep, takeCachedStep } from './step-cache.ts';
export { fromStored, isOfType } from './stored-event.ts';
export { idAt, type Walk, walkApprovals } from './walk-approvals.ts';
