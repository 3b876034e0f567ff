/** The parts of a worker process: the handlers of its queues, the periodic work, and the ports that the process implements. */
export { openAdmission, type RunPlaces } from './admission/admission.ts';
export { startAudit } from './audit/audit-writer.ts';
export type { WorkerDeps } from './deps.ts';
export { collectGarbage } from './handlers/collect-garbage.ts';
export { handleStep } from './handlers/handle-step.ts';
export { handleTask } from './handlers/handle-task.ts';
export { handleTurn } from './handlers/handle-turn.ts';
export { handleWorkspace } from './handlers/handle-workspace.ts';
export { openPeriodicWork } from './handlers/periodic-work.ts';
export { sweep } from './handlers/sweep.ts';
export { wakeMissed } from './handlers/wake-missed.ts';
export { type AbortReason, abortReason, HandBack, type JobContext, type JobEnd } from './jobs/index.ts';
export { countRepair } from './log/count-repair.ts';
export { controlChannel, liveChannel, liveJoinChannel } from './log/keys.ts';
export { readTenant } from './log/known-tenants.ts';
export { readFields, readRun, readStep, readTask } from './log/read-state.ts';
export { reviewPlaces } from './places/take-place.ts';
export { readPlannerInput } from './planning/read-planner-input.ts';
export { scriptedPlanner } from './planning/scripted.ts';
export type {
  AgentKinds,
  BudgetUse,
  CodeHostUser,
  ExecutionContext,
  Executor,
  FailedCheck,
  FoundKinds,
  MadeWorkspace,
  NewsOfTask,
  OpenedPull,
  OpenTask,
  PastCompaction,
  PastConversation,
  PastNews,
  PastTurn,
  PlannedCall,
  Planner,
  PlannerDecision,
  PlannerInput,
  PrepareEnd,
  PublishCall,
  PullRequestAnswer,
  PullRequestCall,
  PullRequestNews,
  PullRequestPort,
  PullRequestRemark,
  PullRequestReport,
  ReportedDecision,
  RunDecision,
  SettledStep,
  TaskContext,
  TaskEnd,
  WorkspacePort,
  WrittenCompaction,
  WrittenInstructions,
} from './ports/index.ts';
export { openPullLooks, openPullStore } from './pull-requests/index.ts';
export { openBackend, wakeWaiting } from './queues/open-backend.ts';
export { openPullQueue } from './queues/pull-queue.ts';
export {
  backoffOf,
  capDelay,
  jobPriority,
  queuePrefix,
  type StepJob,
  type TaskJob,
  type TurnJob,
  type WorkspaceJob,
} from './queues/queues.ts';
export { mayPublicationSleep, mayStillSleep, mayTurnSleep } from './reconcile/may-still-sleep.ts';
export { spanIdOf, spanKeys, traceIdOf } from './spans/index.ts';
