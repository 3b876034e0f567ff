import { forkedFromSchema, parentSchema } from '../../lineage.ts';
import { traceparentSchema } from '../../trace-context.ts';
import { afterStep, event, payloadSchema, plannerSchema, prioritySchema, tenantSchema, z } from '../event.ts';

/** The fields of a run in lists. */
export const runHeaderSchema = z.strictObject({
  title: z.string(),
  toolset: z.string(),
  planner: plannerSchema,
  model: z.string().optional(),
  labels: z.record(z.string(), z.string()),
  priority: prioritySchema.optional(),
  dry_run: z.literal(true).optional(),
});

export const toolVersionsSchema = z
  .record(z.string(), z.string())
  .describe('Version of each tool of the toolset: a digest of its schema');

export const runCreated = event('run.created', {
  data: {
    spec: payloadSchema,
    ...runHeaderSchema.shape,
    created_by: z.string(),
    tenant: tenantSchema.optional().describe('Default: `default`'),
    tools: toolVersionsSchema.optional(),
    forked_from: forkedFromSchema.optional(),
    parent: parentSchema.optional(),
    traceparent: traceparentSchema.optional().describe('The span of its caller, by W3C Trace Context'),
    tracestate: z.string().optional(),
    linked_trace_id: z
      .string()
      .optional()
      .describe('The trace of the run that it continues or works for, when that run has a traceparent'),
  },
  line({ run_id, data: { title, forked_from: from } }) {
    return `${run_id} ${title}${from === undefined ? '' : ` (from ${from.run_id}, ${afterStep(from.step_id)})`}`;
  },
});
