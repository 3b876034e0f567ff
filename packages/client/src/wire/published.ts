import { publicationStatusSchema } from '@holdpoint/engine/domain/vocabulary';
import { publishedSchema } from '@holdpoint/workspace/port';
import { z } from 'zod';

export { publishedSchema };

/** POST /v1/runs/{id}/publish. */
export const publishSchema = z.strictObject({
  message: z.string().min(1).max(10_000).optional().describe("Of the commit. Default: the run's title"),
  snapshot: z.string().optional().describe('The snapshot that was reviewed; another one by now is refused'),
});
export type Publish = z.infer<typeof publishSchema>;

/** What became of a change set. `requested` and `discarding`: a worker has not done it yet. */
export const publicationSchema = z
  .strictObject({
    run_id: z.string(),
    status: publicationStatusSchema,
    snapshot: z.string().nullable(),
    published: publishedSchema.nullable(),
  })
  .meta({ id: 'Publication' });
export type Publication = z.infer<typeof publicationSchema>;
