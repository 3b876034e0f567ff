import { z } from 'zod';
import { callerKindSchema } from '../caller.ts';
import { approvalIdSchema } from '../ids.ts';
import { listOf } from './page.ts';

/** A viewer without a sign for so long has left. */
export const presenceMs = 30_000;

const page = z.uuid().describe('The open page: a caller may have several');

/** PUT /v1/approvals/{id}/presence. */
export const presentSchema = z.strictObject({ page });
/** DELETE /v1/approvals/{id}/presence. */
export const absentQuerySchema = z.strictObject({ page });

/** Who is looking at an approval now. */
export const presenceSchema = z
  .strictObject({
    approval_id: approvalIdSchema,
    viewers: z.array(
      z.strictObject({
        name: z.string(),
        kind: callerKindSchema,
        since: z.iso.datetime(),
        until: z.iso.datetime().describe('Without another sign'),
      }),
    ),
  })
  .meta({ id: 'Presence' });
export type Presence = z.infer<typeof presenceSchema>;
export const presenceListSchema = listOf(presenceSchema);

/** Name of a server-sent event on GET /v1/events, for callers with `approvals:read`. Its data: a `Presence`; without viewers: all have left. */
export const presenceChanged = 'presence.changed';
