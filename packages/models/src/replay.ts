import { z } from 'zod';
import type { ModelAnswer } from './port.ts';

/** What a provider wants back untouched, by provider: signatures, item ids, encrypted reasoning. */
const metadataSchema = z.record(z.string(), z.record(z.string(), z.json()));

const replayPartSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text'), text: z.string(), providerOptions: metadataSchema.optional() }),
  z.strictObject({ type: z.literal('reasoning'), text: z.string(), providerOptions: metadataSchema.optional() }),
  z.strictObject({
    type: z.literal('tool-call'),
    toolCallId: z.string(),
    toolName: z.string(),
    input: z.record(z.string(), z.json()),
    providerOptions: metadataSchema.optional(),
  }),
]);
export type ReplayPart = z.infer<typeof replayPartSchema>;

/** `ModelAnswer.provider`. The format names the shape, so that an answer recorded under another one is rebuilt, not misread. */
const replaySchema = z.strictObject({ format: z.literal('parts-1'), parts: z.array(replayPartSchema) });

/** Takes parts in the form of `ReplayPart`; what does not fit is found at the replay, where the answer is then rebuilt. */
export function packReplay(parts: readonly unknown[]): ModelAnswer['provider'] {
  // Drops keys that are undefined, so that the answer in memory is the answer that is persisted.
  return JSON.parse(JSON.stringify({ format: 'parts-1', parts }));
}

/** The recorded parts; `null` when another model, or another shape, recorded them: signatures hold only where they were made. */
export function unpackReplay(answer: ModelAnswer, model: string): ReplayPart[] | null {
  if (answer.model !== model) return null;
  const replay = replaySchema.safeParse(answer.provider);
  return replay.success ? replay.data.parts : null;
}
