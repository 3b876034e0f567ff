/** The vocabulary of transitions and changes: the fields of the state, the parsed state, and conditions. */

export type { Cell } from './fields/field.ts';
export { approvalField, ruleField } from './fields/field.ts';
export {
  approvalsField,
  callsKeyField,
  forkField,
  messageField,
  namedField,
  receivedField,
  reservedField,
  rewindsField,
  runField,
  snapshotIndex,
  specField,
  tasksField,
  toolIndex,
  turnField,
} from './fields/run.ts';
export { stepField } from './fields/step.ts';
export { taskField } from './fields/task.ts';
export type {
  ApprovalState,
  RuleState,
  RunState,
  StepState,
  TaskState,
} from './state.ts';
export {
  agentsAre,
  approvalIs,
  attemptIs,
  attemptRuns,
  type Condition,
  fieldIs,
  headIs,
  heads,
  isAbsent,
  isRestored,
  leaseIs,
  noMerge,
  noOpenTasks,
  notCanceled,
  openIs,
  parkedIs,
  publicationIs,
  receivedIs,
  runIs,
  seqIs,
  snapshotIs,
  stepIs,
  type Transition,
  takenIs,
  taskIs,
  turnIs,
  writerIs,
} from './transition.ts';
