import { z } from 'zod';
import { givenLimitsSchema } from './limits.ts';
import { narrowedShape } from './permissions.ts';

/** A document of the operator decides for itself; a document of the workspace is text by a stranger; the request is the caller's. */
export const kindOriginSchema = z.enum(['operator', 'request', 'workspace']);
export type KindOrigin = z.infer<typeof kindOriginSchema>;

/** The name of a sub-agent's kind, and the origin of its document. */
export const ofKindSchema = z.strictObject({
  name: z.string(),
  origin: kindOriginSchema,
  file: z.string().describe('The document; for a kind of the request its JSON Pointer there'),
});
export type OfKind = z.infer<typeof ofKindSchema>;

/** The narrower bounds of a kind of sub-agent. An absent field has the value of the run. */
export const kindBoundsSchema = z.strictObject({
  ...ofKindSchema.shape,
  model: z.string().optional(),
  tools: z.array(z.string()).optional(),
  ...narrowedShape,
  limits: givenLimitsSchema.optional(),
});
export type KindBounds = z.infer<typeof kindBoundsSchema>;

/** A kind of sub-agent. A kind narrows the permissions of its run and widens nothing; the operator's may name a model of its own. */
export interface AgentKind extends KindBounds {
  /** Shown to the model when the model chooses a kind. */
  description: string;
  /** The sub-agent reads these instructions before its prompt. */
  instructions: string;
}

export const kindNameSchema = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/, 'expected up to 64 letters, digits, - and _');

/** A kind in the body of a request. */
export const givenKindSchema = z
  .strictObject({
    name: kindNameSchema,
    description: z.string().trim().min(1).max(2000).describe('For the model that chooses'),
    instructions: z.string().trim().min(1).max(65_536).describe('What the sub-agent reads before its prompt'),
    model: z.string().min(1).max(200).optional().describe('provider/model, one that the run may use'),
    tools: z.array(z.string().min(1).max(100)).min(1).max(200).optional().describe('Default: all tools of the run'),
    ...narrowedShape,
    limits: givenLimitsSchema.optional(),
  })
  .meta({ id: 'GivenKind' });
export type GivenKind = z.infer<typeof givenKindSchema>;

export const givenKindsSchema = z
  .array(givenKindSchema)
  .max(20)
  .refine((kinds) => new Set(kinds.map(({ name }) => name)).size === kinds.length, 'two kinds have the same name')
  .describe('Kinds of sub-agents. Each has at most what the run has');

/** A document about a kind, in the record of a run. */
export const listedKindSchema = z.strictObject({
  ...ofKindSchema.shape,
  description: z.string().optional(),
  error: z.string().optional().describe('Why the document is no kind'),
});
export type ListedKind = z.infer<typeof listedKindSchema>;
