import { z } from 'zod';
import { givenLimitsSchema } from './limits.ts';
import { narrowedShape } from './permissions.ts';

/** A document of the operator decides for itself; one of the workspace is text by a stranger. */
export const kindOriginSchema = z.enum(['operator', 'workspace']);
export type KindOrigin = z.infer<typeof kindOriginSchema>;

/** Which kind of sub-agent a run is, and the document that says so. */
export const ofKindSchema = z.strictObject({ name: z.string(), origin: kindOriginSchema, file: z.string() });
export type OfKind = z.infer<typeof ofKindSchema>;

/** What a kind of sub-agent has less of than its run. An absent field is that of the run. */
export const kindBoundsSchema = z.strictObject({
  ...ofKindSchema.shape,
  model: z.string().optional(),
  tools: z.array(z.string()).optional(),
  ...narrowedShape,
  limits: givenLimitsSchema.optional(),
});
export type KindBounds = z.infer<typeof kindBoundsSchema>;

/** A kind of sub-agent. It narrows what its run may do and widens nothing; the operator's may name a model of its own. */
export interface AgentKind extends KindBounds {
  /** For the model that chooses. */
  description: string;
  /** What the sub-agent reads before its prompt. */
  instructions: string;
}

/** A document about a kind, as the record of a run lists it. */
export const listedKindSchema = z.strictObject({
  ...ofKindSchema.shape,
  description: z.string().optional(),
  error: z.string().optional().describe('Why the document is no kind'),
});
export type ListedKind = z.infer<typeof listedKindSchema>;
