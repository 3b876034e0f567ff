import { afterStep, event, snapshotIdSchema, stepIdSchema, taskIdSchema, z } from '../event.ts';

export const runRewound = event('run.rewound', {
  data: {
    by: z.string(),
    to_step: stepIdSchema.nullable().describe('The last step that is kept; null: none is'),
    turn: z.int(),
    steps: z.array(stepIdSchema).describe('The steps of that turn: the kept ones, then new ones'),
    open: z.int(),
    snapshot: snapshotIdSchema,
    planning: z.literal(true).optional().describe('The approval of the plan is undone: the run is in plan mode again'),
    lost_tasks: z.array(taskIdSchema).optional().describe('Their changes are undone, although their steps stay'),
    undone: z.array(z.strictObject({ id: stepIdSchema, name: z.string().optional() })),
  },
  line: ({ data: { undone, to_step, by } }, { counted }) =>
    `${counted(undone.length, 'step')} undone by ${by}: ${afterStep(to_step)}`,
  tone: 'warning',
});
