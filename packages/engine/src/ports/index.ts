/** The ports of the engine to tools, workspaces and planners. The worker passes the real implementations. */
export type { AgentKinds, FoundKinds } from './agent-kinds.ts';
export type {
  Call,
  ExecutionContext,
  Executor,
  ModelUse,
  PrepareEnd,
  TaskContext,
  TaskEnd,
  TaskTools,
  ToolCatalog,
} from './executor.ts';
export type {
  BudgetUse,
  NewsOfTask,
  OpenTask,
  PastCompaction,
  PastConversation,
  PastNews,
  PastTurn,
  PlannedCall,
  Planner,
  PlannerDecision,
  PlannerInput,
  RetryHints,
  RunDecision,
  SettledStep,
  StepEnding,
  WrittenCompaction,
  WrittenInstructions,
} from './planner.ts';
export type {
  PullRequestCall,
  PullRequestPort,
  PullRequestReport,
  ReportedDecision,
} from './pull-requests.ts';
export type { Logger, Metrics, TelemetryPort } from './telemetry.ts';
export type {
  Difference,
  MadeWorkspace,
  PlannedPublish,
  PublishCall,
  TreeState,
  WorkspacePort,
} from './workspace.ts';
