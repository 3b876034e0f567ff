import type { ValidatorResult } from '../../validation.ts';
import { event, payloadOf, short, snapshotIdSchema, z } from '../event.ts';

/** The result of the validators. */
export const validatedSchema = z.strictObject({
  snapshot: snapshotIdSchema,
  passed: z.boolean(),
  results: payloadOf<ValidatorResult[]>(),
});

export const workspaceValidated = event('workspace.validated', {
  data: validatedSchema.shape,
  line: ({ data }) => `${short(data.snapshot)}: ${data.passed ? 'every validator passed' : 'a validator did not pass'}`,
});
