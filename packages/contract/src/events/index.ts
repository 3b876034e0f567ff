import { z } from 'zod';
import { approvalCanceled } from './approval/canceled.ts';
import { approvalDecided } from './approval/decided.ts';
import { approvalDelegated } from './approval/delegated.ts';
import { approvalEscalated } from './approval/escalated.ts';
import { approvalExpired } from './approval/expired.ts';
import { approvalPreviewFailed } from './approval/preview-failed.ts';
import { approvalPreviewRequested } from './approval/preview-requested.ts';
import { approvalReminded } from './approval/reminded.ts';
import { approvalRequested } from './approval/requested.ts';
import { approvalVoted } from './approval/voted.ts';
import { callsReceived } from './calls/received.ts';
import { contextCompacted } from './context/compacted.ts';
import { contextInstructed } from './context/instructed.ts';
import { contextNotified } from './context/notified.ts';
import type { Tone, Words } from './event.ts';
import { graphProgress } from './graph/progress.ts';
import { messageReceived } from './message/received.ts';
import { modelRetrying } from './model/retrying.ts';
import { modelUsed } from './model/used.ts';
import { networkConnected } from './network/connected.ts';
import { networkCounted } from './network/counted.ts';
import { ruleRemembered } from './rule/remembered.ts';
import { ruleRevoked } from './rule/revoked.ts';
import { runCanceled } from './run/canceled.ts';
import { runCanceling } from './run/canceling.ts';
import { runClosing } from './run/closing.ts';
import { runCreated } from './run/created.ts';
import { runExtended } from './run/extended.ts';
import { runFailed } from './run/failed.ts';
import { runForked } from './run/forked.ts';
import { runMarked } from './run/marked.ts';
import { runPaused } from './run/paused.ts';
import { runPlanApproved } from './run/plan-approved.ts';
import { runRepaired } from './run/repaired.ts';
import { runResumed } from './run/resumed.ts';
import { runRewound } from './run/rewound.ts';
import { runStarted } from './run/started.ts';
import { runSucceeded } from './run/succeeded.ts';
import { runWaiting } from './run/waiting.ts';
import { stepAsked } from './step/asked.ts';
import { stepCancelRequested } from './step/cancel-requested.ts';
import { stepCreated } from './step/created.ts';
import { stepDeferred } from './step/deferred.ts';
import { stepHeld } from './step/held.ts';
import { stepIndeterminate } from './step/indeterminate.ts';
import { stepModelUsed } from './step/model-used.ts';
import { stepQueued } from './step/queued.ts';
import { stepRetried } from './step/retried.ts';
import * as settled from './step/settled.ts';
import { stepStarted } from './step/started.ts';
import { taskCreated } from './task/created.ts';
import { taskEnded } from './task/ended.ts';
import { taskExited } from './task/exited.ts';
import { taskInputSent } from './task/input-sent.ts';
import { taskKillRequested } from './task/kill-requested.ts';
import { taskReserved } from './task/reserved.ts';
import { taskResumed } from './task/resumed.ts';
import { taskStarted } from './task/started.ts';
import { taskUsed } from './task/used.ts';
import { taskWaiting } from './task/waiting.ts';
import { turnPlanned } from './turn/planned.ts';
import { workspaceCaptured } from './workspace/captured.ts';
import { workspaceConflicted } from './workspace/conflicted.ts';
import { workspaceDiscardRequested } from './workspace/discard-requested.ts';
import { workspaceDiscarded } from './workspace/discarded.ts';
import { workspaceDistrusted } from './workspace/distrusted.ts';
import { workspaceDrifted } from './workspace/drifted.ts';
import { workspaceHeld } from './workspace/held.ts';
import { workspaceLeased } from './workspace/leased.ts';
import { workspaceMaterialised } from './workspace/materialised.ts';
import { workspacePrepareFailed } from './workspace/prepare-failed.ts';
import { workspacePrepared } from './workspace/prepared.ts';
import { workspacePreparing } from './workspace/preparing.ts';
import { workspaceProgress } from './workspace/progress.ts';
import { workspacePublishFailed } from './workspace/publish-failed.ts';
import { workspacePublishRejected } from './workspace/publish-rejected.ts';
import { workspacePublishReleased } from './workspace/publish-released.ts';
import { workspacePublishRequested } from './workspace/publish-requested.ts';
import { workspacePublished } from './workspace/published.ts';
import { workspaceRestored } from './workspace/restored.ts';
import { workspaceSnapshotted } from './workspace/snapshotted.ts';
import { workspaceValidated } from './workspace/validated.ts';
import { workspaceValidating } from './workspace/validating.ts';

export { decisionSchema } from './approval/decided.ts';
export { type Delegation, delegationSchema } from './approval/delegated.ts';
export {
  type ActionChanged,
  actionChangedSchema,
  approvalRequestSchema,
  mostChangesNamed,
  type Shown,
} from './approval/requested.ts';
export { type Vote, voteSchema } from './approval/voted.ts';
export type { Tone, Words } from './event.ts';
export type { Connection } from './network/connected.ts';
export { type RememberedRule, rememberedRuleSchema } from './rule/remembered.ts';
export { closingSchema } from './run/closing.ts';
export { runHeaderSchema, toolVersionsSchema } from './run/created.ts';
export { askedSchema } from './step/asked.ts';
export { callSchema } from './step/created.ts';
export { outsideSchema } from './step/deferred.ts';
export { type RefusedCalls, type Repetition, refusedCallsSchema, repetitionSchema } from './turn/planned.ts';
export { type Usage, usageSchema } from './usage.ts';
export { publishReleaseSchema } from './workspace/publish-released.ts';
export { type PublishOptions, publishRequestSchema } from './workspace/publish-requested.ts';
export { validatedSchema } from './workspace/validated.ts';

/** Every event type, in the order of the documents of the API: a file each, with its schema and its line in a timeline. */
const kinds = [
  runCreated,
  runStarted,
  runWaiting,
  runResumed,
  runExtended,
  runPaused,
  runPlanApproved,
  runRewound,
  runForked,
  runMarked,
  runClosing,
  runCanceling,
  runCanceled,
  runSucceeded,
  runFailed,
  turnPlanned,
  contextInstructed,
  contextNotified,
  contextCompacted,
  modelRetrying,
  modelUsed,
  callsReceived,
  messageReceived,
  runRepaired,
  stepCreated,
  stepQueued,
  stepStarted,
  stepHeld,
  stepAsked,
  stepDeferred,
  stepModelUsed,
  stepCancelRequested,
  stepRetried,
  stepIndeterminate,
  settled.stepSucceeded,
  settled.stepFailed,
  settled.stepKilled,
  settled.stepTimedOut,
  settled.stepRejected,
  settled.stepExpired,
  settled.stepCanceled,
  approvalRequested,
  approvalDecided,
  approvalExpired,
  approvalCanceled,
  approvalVoted,
  approvalDelegated,
  approvalReminded,
  approvalEscalated,
  approvalPreviewRequested,
  approvalPreviewFailed,
  ruleRemembered,
  ruleRevoked,
  taskCreated,
  taskStarted,
  taskInputSent,
  taskKillRequested,
  taskUsed,
  taskWaiting,
  taskResumed,
  taskReserved,
  taskExited,
  taskEnded,
  networkConnected,
  networkCounted,
  graphProgress,
  workspaceProgress,
  workspaceMaterialised,
  workspacePreparing,
  workspacePrepared,
  workspacePrepareFailed,
  workspaceSnapshotted,
  workspaceDrifted,
  workspaceLeased,
  workspaceDistrusted,
  workspaceRestored,
  workspaceHeld,
  workspaceCaptured,
  workspaceValidating,
  workspacePublishRequested,
  workspaceValidated,
  workspacePublishReleased,
  workspacePublishRejected,
  workspacePublishFailed,
  workspacePublished,
  workspaceConflicted,
  workspaceDiscardRequested,
  workspaceDiscarded,
] as const;

type SchemasOf<Kinds extends readonly { schema: z.ZodObject }[]> = { [At in keyof Kinds]: Kinds[At]['schema'] };

/** Every event of a run's log, as stored: without the sequence number, the id of an event in the stream. */
export const eventSchema = z.discriminatedUnion(
  'type',
  kinds.map(({ schema }) => schema) as unknown as SchemasOf<typeof kinds>,
);
export type RunEvent = z.infer<typeof eventSchema>;
export type EventType = RunEvent['type'];
export type EventOf<Type extends EventType> = Extract<RunEvent, { type: Type }>;
/** The events whose data always has this member. */
export type EventWith<Member extends string> = Exclude<
  Extract<RunEvent, { data: Record<Member, unknown> }>,
  { data: Record<string, never> }
>;

/** The names of all event types, in the same order. */
export const eventTypes: readonly EventType[] = kinds.map(({ schema }) => schema.shape.type.value);

/** An event with its sequence number: dense, from 1, per run. */
export type LoggedEvent = RunEvent & { seq: number };

/** An event before the append: the log adds id, run and time. */
export type NewEvent = { [Type in EventType]: Draft<EventOf<Type>> }[EventType];
type Draft<Event> = Event extends unknown ? Omit<Event, 'id' | 'run_id' | 'time'> : never;

/** The events by which a step settles. */
export const stepSettlements = [
  'step.succeeded',
  'step.failed',
  'step.killed',
  'step.timed_out',
  'step.rejected',
  'step.expired',
  'step.canceled',
] as const satisfies readonly EventType[];
export type StepSettled = EventOf<(typeof stepSettlements)[number]>;

const settling: ReadonlySet<string> = new Set(stepSettlements);
export const settlesStep = <Event extends RunEvent>(event: Event): event is Extract<Event, StepSettled> =>
  settling.has(event.type);

/** How an event looks in a timeline. */
interface Look {
  line(event: RunEvent, words: Words): string;
  tone?: Tone;
  isQuiet?: true;
}

// The compiler does not see that the entry and the event have the same type.
const looks = Object.fromEntries(kinds.map((kind) => [kind.schema.shape.type.value, kind])) as unknown as Record<
  EventType,
  Look
>;

/** The event in a line of a timeline, after its type. Texts from outside in the line are not yet safe for a terminal. */
export const lineOf = (event: RunEvent, words: Words): string => looks[event.type].line(event, words);

export const toneOf = ({ type }: Pick<RunEvent, 'type'>): Tone => looks[type].tone ?? 'plain';

/** Whether the view of a followed run leaves the event out. */
export const isQuietEvent = ({ type }: Pick<RunEvent, 'type'>): boolean => looks[type].isQuiet === true;
