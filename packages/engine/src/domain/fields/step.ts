import {
  beginsSchema,
  callSchema,
  callTimesSchema,
  effectSchema,
  grantSchema,
  insteadSchema,
  payloadSchema,
  problemSchema,
  stepStatusSchema,
} from '@holdpoint/contract';
import { z } from 'zod';
import { cellsById, integer, json, optional, text } from './field.ts';

/** The fields of a step, named `<step id>:<field>`. */
export const stepTable = {
  status: text(stepStatusSchema, 'Status of the step.'),
  attempt: integer('Number of the last attempt; 0 before the first.'),
  interruptions: integer('Attempts that ended without an outcome.'),
  call: json(callSchema, 'The call as it was planned, without its arguments.'),
  args: json(payloadSchema, 'The arguments to run with: an edit replaces them.'),
  written: optional(json(payloadSchema, 'The arguments that the caller wrote; set when an edit replaced them.')),
  effect: text(effectSchema, 'Effect of the call with these arguments.'),
  approval: optional(text(z.string(), 'The last approval that was requested for it.')),
  approved_snapshot: optional(text(z.string(), 'Snapshot that the last decision was made on.')),
  snapshot: optional(text(z.string(), 'Snapshot that the step left.')),
  outcome: optional(
    json(
      z.strictObject({
        attempt: z.int().nullable(),
        value: payloadSchema.optional(),
        error: problemSchema.optional(),
        duration_ms: z.number().optional(),
        inherited_from: z.string().optional(),
        grants: z.array(grantSchema).optional(),
        times: callTimesSchema.optional(),
        instead: insteadSchema.optional(),
      }),
      'How the step settled.',
    ),
  ),
  deferred: optional(
    json(
      z.strictObject({ until: z.string(), task_id: z.string(), begins: beginsSchema.optional() }),
      'What a deferred step waits for.',
    ),
  ),
  task: optional(text(z.string(), 'The task that the step started.')),
  worker: optional(text(z.string(), 'Worker of the last attempt.')),
  created_at: text(z.string(), 'Time of step.created.'),
  queued_ms: integer(
    'Milliseconds in the status queued, minus the time (since the epoch) at which it was queued if it is queued.',
  ),
  started_at: optional(text(z.string(), 'Time at which the last attempt began that was not held.')),
  began_at: optional(text(z.string(), 'Time at which the first of them began, when there are several.')),
  settled_at: optional(text(z.string(), 'Time at which the step settled.')),
};

export const stepField = cellsById(stepTable);
