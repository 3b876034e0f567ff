import * as contract from '@holdpoint/contract';
import { z } from 'zod';
import { type Cell, cell, cellsOf, integer, json, optional, optionalInteger, text } from './field.ts';

/** The fields of a run in its state hash: a flat hash, so a script can test and set any fields in the same moment. */
export const runTable = {
  seq: integer('Sequence number of the last event.'),
  status: text(contract.runStatusSchema, 'Status of the run.'),
  header: json(contract.runHeaderSchema, 'What lists show: title, toolset, planner, model, labels and priority.'),
  tenant: optional(text(contract.tenantSchema, 'The tenant that it belongs to; absent: default.')),
  created_by: optional(
    text(z.string(), 'Name of the caller that submitted it; absent in runs from before there were callers.'),
  ),
  traceparent: optional(text(z.string(), 'The span of the caller that submitted it, by W3C Trace Context.')),
  created_at: text(z.string(), 'Time of run.created.'),
  started_at: optional(text(z.string(), 'Time of run.started.')),
  ended_at: optional(text(z.string(), 'Time of the end; cleared when the run is resumed.')),
  turn: integer('Number of the last planned turn; 0 before the first.'),
  turn_steps: json(z.array(contract.stepIdSchema), 'Ids of the steps of that turn, in order.'),
  open: integer('Steps of that turn that are not settled.'),
  parked: integer('Pending approvals.'),
  budget_from: optional(json(contract.usageSchema, 'Usage at the last resume from a pause: limits count from there.')),
  steps: integer('Steps that were planned.'),
  alive: integer('Steps that are not undone.'),
  last_turn: integer('The highest number of a turn that was ever planned: an undo leaves later ones behind `turn`.'),
  active_ms: integer(
    'Milliseconds in the status running, minus the time (since the epoch) at which it began if it is running.',
  ),
  input_tokens: integer('Tokens that models read.'),
  output_tokens: integer('Tokens that models wrote.'),
  cached_input_tokens: integer('Tokens that models read from the caches of their providers; part of `input_tokens`.'),
  cost_micros: integer('Cost of the models, in millionths of a US dollar.'),
  repetition: optional(
    json(contract.repetitionSchema, 'How often the last turns were the same, or failed altogether.'),
  ),
  tools: optional(
    json(contract.toolVersionsSchema, 'Version of each tool when the run began or accepted new versions.'),
  ),
  model: optional(text(z.string(), 'The model that it continues with, when a person changed it.')),
  model_wait: optional(
    json(
      contract.modelRetryingSchema,
      'Since when, and until when, it waits for a model that cannot be asked; cleared by a turn.',
    ),
  ),
  models_left: optional(
    json(
      z.record(z.string(), contract.modelLeftSchema),
      'The models that it turned from, because they could not be asked.',
    ),
  ),
  context_tokens: optionalInteger('Tokens of the last request to the model.'),
  window: optionalInteger('Tokens that the model can read, as far as it is known.'),
  compactions: integer('How often older turns were shortened for the model.'),
  instructions: optional(
    json(z.array(contract.instructionFileSchema), 'Files of the workspace that instruct the model.'),
  ),
  notified: integer('Messages to the model about what happened beside its conversation.'),
  mark: optional(json(contract.runMarkSchema, 'What a person thinks of its work.')),
  plan_approved: optional(
    text(contract.stepIdSchema, 'The step with the approved plan; absent: plan mode is on where the run began in it.'),
  ),
  messages: integer('Messages that people sent.'),
  messages_read: integer('Messages that the planner has read.'),
  open_tasks: integer('Tasks that are not over.'),
  agents: integer('Sub-agents that this run started itself.'),
  agents_total: optional(json(contract.agentsTotalSchema, 'Sum of the reports of its sub-agents (`agent-report.ts`).')),
  awaits_calls: optional(text(z.string(), 'Since when an open run waits for calls; absent: it does not.')),
  received: integer('Requests of calls that an open run received.'),
  taken: integer('How many of them became turns, or were dropped. The others wait, in order.'),
  closing: optional(json(contract.closingSchema, 'How the run ends when its tasks are over.')),
  base: optional(text(z.string(), 'Snapshot that the change set is counted from.')),
  absent: optional(json(contract.absentContentSchema, 'What the source names and the workspace does not have.')),
  snapshot: optional(text(z.string(), 'Snapshot that the workspace is at.')),
  message: optional(text(z.string(), 'Last message of a run that succeeded.')),
  output: optional(json(contract.payloadSchema, 'Final answer of a run whose goal has an `output_schema`.')),
  reason: optional(json(contract.problemSchema, 'Why the run is paused or failed.')),
  lease: integer("Epoch of the run's tree. Each take-over raises it, and trees of lower epochs are stale."),
  writer: text(
    z.string().default(''),
    'The step or task that alone may change the tree and take snapshots; empty: none.',
  ),
  /** The tree carries the same name: a difference shows when a log or a tree went back to an earlier time. */
  head: text(
    z.string().default(''),
    'The last writer that was admitted to the tree (`transition.ts`); empty: none since the tree was made.',
  ),
  uncaptured: integer(
    'Background commands started on this tree without a later snapshot: until 0, the tree may be ahead of `snapshot`.',
  ),
  merging: optional(
    text(z.string(), 'The sub-agent task whose changes are being merged into the tree; no call that writes starts.'),
  ),
  restore: optional(
    text(
      z.literal('due'),
      'Set while the tree must be rebuilt from `snapshot`, e.g. after an interrupted attempt or an undo.',
    ),
  ),
  prepare: optional(
    text(z.enum(['due', 'done']), 'Whether the commands of `prepare` have to run before the first turn; absent: none.'),
  ),
  prepared: integer('How many of those commands have left their snapshot.'),
  preparing: optional(text(z.string(), 'The one of them that was begun; stays set when its worker dies.')),
  publication: text(contract.publicationStatusSchema, 'Status of the publication.'),
  publish_request: optional(json(contract.publishRequestSchema, 'What the last publish was asked to do.')),
  publish_release: optional(json(contract.publishReleaseSchema, 'What people decided about that publish.')),
  validating: optional(text(z.string(), 'Snapshot that validators run on; stays set when their worker dies.')),
  validated: optional(json(contract.validatedSchema, 'Result of the last validation.')),
  publish_approval: optional(text(z.string(), 'Approval that a parked publish waits for.')),
  publication_detail: optional(
    json(
      z.strictObject({
        published: contract.publishedSchema.optional(),
        conflicts: z.array(contract.conflictSummarySchema).optional(),
        reason: contract.problemSchema.optional(),
      }),
      'Outcome of the last publish.',
    ),
  ),
  forked_from: optional(json(contract.forkedFromSchema, 'The run that this one continues.')),
  parent: optional(json(contract.parentSchema, 'The run and task that a sub-agent works for.')),
  forks: integer('Runs that were forked from this one.'),
};

export const runField = cellsOf(runTable);

/** The job description. Not part of `RunState`: the description may be long and never changes (`log/read-spec.ts`). */
export const specField = cell('spec', json(contract.payloadSchema, 'What the run was asked to do.'));

// Built once: a schema costs more than all other work of an append on a text field.
const plainText = text(z.string(), '');
const textCell = (name: string) => cell(name, plainText);
/** The step with this name now. */
export const namedField = (name: string) => textCell(`named:${name}`);
/**
 * The steps of a turn, undone steps included: `;step_… step_…@NUMBER` for each planning of the turn. NUMBER is the number of steps then
 * standing before the turn.
 */
export const turnField = (turn: number) => textCell(`turn:${turn}`);
/**
 * Fields of an index. Each field covers `width` numbers in a row, and its name ends with its place among the fields. A number is written as
 * its remainder, so an entry stays short.
 */
interface Index extends Cell<never> {
  width: number;
}
const index = (name: string, width: number): Index => ({ ...textCell(`${name}:`), width });
/** The events with a state of the files: ` DIGITS:SEQ`, with the first four digits of the id of the snapshot. */
export const snapshotIndex = index('snapshots', 1000);
/** The approvals and the tasks of a run: ` ID:SEQ`, where SEQ is the event of its request or creation. */
export const approvalsField = textCell('approvals');
export const tasksField = textCell('tasks');
/** Where the log has an undo: ` SEQ`. */
export const rewindsField = textCell('rewinds');
/** The turns with a step of this tool: ` TURN`, once for each. */
export const toolIndex = (tool: string) => index(`tool_turns:${tool}`, turnsAtOnce);
/**
 * The turns with a step settled in this status, also when the step was undone since: ` TURN`, once for each turn. `append.lua` writes the
 * entries with the record.
 */
export const settledIndex = (status: string) => index(`${settledTurns}${status}`, turnsAtOnce);
/** How the names of these indexes begin: the script adds the status. */
export const settledTurns = 'settled_turns:';
export const turnsAtOnce = 200;
/** The first snapshot of a fork. */
export const forkField = (child: string) => textCell(`fork:${child}`);
/** The task of this run above a reserved sub-agent: a step beneath the task is about to start the sub-agent (`tree-limits.ts`). */
export const reservedField = (stepId: string) => textCell(`reserved:${stepId}`);
/** The calls received by an open run with this number. */
export const receivedField = (number: number) =>
  cell(`received:${number}`, json(receivedCallsSchema, 'The calls, the steps that they become, and when they came.'));
export const receivedCallsSchema = contract.postedCallsSchema.extend({ at: z.string() });
/** The request of calls with this Idempotency-Key. The field's name has the digest of the key. */
export const callsKeyField = (digest: string) =>
  cell(`calls_key:${digest}`, json(callsKeySchema, 'Number and digest of the request.'));
export const callsKeySchema = z.strictObject({ number: z.int(), request: z.string() });
/** Set once a message was received. */
export const messageField = (messageId: string) => textCell(messageId);
