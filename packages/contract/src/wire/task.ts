import { z } from 'zod';
import { taskMergeSchema } from '../task.ts';
import { problemSchema, taskKindSchema, taskStatusSchema } from '../vocabulary.ts';
import { integerParameter, listOf } from './page.ts';

const time = z.iso.datetime();

/** A background command or a sub-agent: both run while steps of the run go ahead. */
export const taskSchema = z
  .strictObject({
    id: z.string(),
    run_id: z.string(),
    step_id: z.string().describe('The step that started it'),
    kind: taskKindSchema,
    title: z.string(),
    agent: z.string().nullable().describe('The kind of a sub-agent; null: it has none'),
    status: taskStatusSchema,
    exit_code: z.int().nullable().describe('For a command that ended by itself; a killed one has none'),
    reason: problemSchema.nullable(),
    message: z.string().nullable().describe('The last message of a sub-agent'),
    merged: taskMergeSchema.nullable(),
    child: z
      .strictObject({ run_id: z.string(), status: z.string() })
      .nullable()
      .describe('For a started sub-agent: its run and the status of that run'),
    duration_ms: z.number().nullable(),
    created_at: time,
    started_at: time.nullable(),
    ended_at: time.nullable(),
  })
  .meta({ id: 'Task' });
export type Task = z.infer<typeof taskSchema>;
export const taskListSchema = listOf(taskSchema);

export const taskOutputQuerySchema = z.strictObject({
  stream: z.enum(['stdout', 'stderr']).default('stdout'),
  cursor: integerParameter(0, Number.MAX_SAFE_INTEGER).default(0).describe('The first byte to return'),
  max_bytes: integerParameter(1, 1024 * 1024).default(65_536),
  wait_s: integerParameter(0, 60).default(0).describe('Seconds to wait for more output or for the end'),
});
export type TaskOutputQuery = Partial<z.output<typeof taskOutputQuerySchema>>;

/** A part of the output of a background command. Cursors count bytes; the first and last MiB of each stream are kept. */
export const taskOutputSchema = z
  .strictObject({
    status: taskStatusSchema,
    text: z.string(),
    next_cursor: z.int(),
    total_bytes: z.int(),
    omitted_bytes: z.int().describe('Bytes between the cursor and the text that are no longer kept'),
  })
  .meta({ id: 'TaskOutput' });
export type TaskOutput = z.infer<typeof taskOutputSchema>;
