import { afterStep, event, runIdSchema, snapshotIdSchema, stepIdSchema } from '../event.ts';

export const runForked = event('run.forked', {
  data: { child: runIdSchema, step_id: stepIdSchema.nullable(), snapshot: snapshotIdSchema },
  line: ({ data: { child, step_id } }) => `${child} continues ${afterStep(step_id)}`,
});
