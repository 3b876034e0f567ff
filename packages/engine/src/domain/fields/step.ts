import * as contract from '@holdpoint/contract';
import { z } from 'zod';
import { cellsById, integer, json, optional, optionalInteger, text, time } from './field.ts';

/** Who asked for the end of a step. */
export const stepCancelSchema = z.strictObject({ by: z.string(), at: z.string(), message: z.string().optional() });

/**
 * The fields of a step, named `<step id>:<field>`. When the step settles they become one field, its record (`settledColumns`): a step
 * of a run long over costs a sixth of the memory, and a page of steps is read without the rest of the run.
 */
export const stepTable = {
  status: text(contract.stepStatusSchema, 'Status of the step.'),
  attempt: integer('Number of the last attempt; 0 before the first.'),
  interruptions: integer('Attempts that ended without an outcome.'),
  call: json(
    contract.callSchema.omit({ verdict: true, policies: true }),
    'The call as it was planned, without its arguments and its verdict.',
  ),
  judged: optional(
    json(
      z.strictObject({ verdict: contract.verdictSchema.optional(), policies: z.string().optional() }),
      'The verdict on the call, by which policies. Later it is only in `step.created`.',
    ),
  ),
  args: json(contract.payloadSchema, 'The arguments to run with: an edit replaces them.'),
  written: optional(
    json(contract.payloadSchema, 'The arguments that the caller wrote; set when an edit replaced them.'),
  ),
  effect: text(contract.effectSchema, 'Effect of the call with these arguments.'),
  approval: optional(text(z.string(), 'The last approval that was requested for it.')),
  approved_snapshot: optional(text(z.string(), 'Snapshot that the last decision was made on.')),
  snapshot: optional(text(z.string(), 'Snapshot that the step left.')),
  outcome: optional(
    json(
      z.strictObject({
        attempt: z.int().nullable(),
        value: contract.payloadSchema.optional(),
        error: contract.problemSchema.optional(),
        duration_ms: z.number().optional(),
        inherited_from: z.string().optional(),
        grants: z.array(contract.grantSchema).optional(),
        times: contract.callTimesSchema.optional(),
        instead: contract.insteadSchema.optional(),
        long: contract.payloadSchema.optional(),
      }),
      'How the step settled.',
    ),
  ),
  deferred: optional(
    json(
      z.strictObject({
        until: z.string(),
        task_id: z.string().optional(),
        outside: contract.outsideSchema.optional(),
        begins: contract.beginsSchema.optional(),
      }),
      'What a deferred step waits for.',
    ),
  ),
  task: optional(text(z.string(), 'The task that the step started.')),
  asked: optional(json(contract.askedSchema, 'The last question of the other side of the call.')),
  answers: optional(
    json(contract.payloadOf<contract.OutsideAnswers>(), 'What a person answered to it: the next attempt sends it.'),
  ),
  worker: optional(text(z.string(), 'Worker of the last attempt.')),
  cancel: optional(json(stepCancelSchema, 'Who asked for the end of the step. It never starts again.')),
  created_at: time('Time of step.created.'),
  queued_ms: integer(
    'Milliseconds in the status queued, minus the time (since the epoch) at which it was queued if it is queued.',
  ),
  started_at: optional(time('Time at which the last attempt began that was not held.')),
  began_at: optional(time('Time at which the first of them began, when there are several.')),
  settled_at: optional(time('Time at which the step settled.')),
  created_seq: optionalInteger('Sequence number of step.created.'),
  settled_seq: optionalInteger('Sequence number of the event that settled the step.'),
};

export const stepField = cellsById(stepTable);

/** The fields in the record of a settled step, in the order of the record. A new field goes to the end: records are not written again. */
export const settledColumns = [
  ...(['status', 'call', 'created_at', 'started_at', 'settled_at', 'effect', 'attempt', 'args', 'outcome'] as const),
  ...(['interruptions', 'written', 'approval', 'approved_snapshot', 'snapshot', 'deferred', 'task', 'worker'] as const),
  ...(['queued_ms', 'began_at', 'created_seq', 'settled_seq', 'cancel'] as const),
] satisfies (keyof typeof stepTable)[];

/** Separates the fields of a record. JSON texts, ids and times never contain the separator; in a name a space replaces the separator. */
export const columnSeparator = '\n';

/** Fields needed only to begin the call. */
export const droppedColumns = ['judged', 'asked', 'answers'] as const satisfies (keyof typeof stepTable)[];
