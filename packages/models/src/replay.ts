import { z } from 'zod';
import type { ModelAnswer } from './port.ts';

/** Data by provider to send back unchanged: signatures, item ids, encrypted reasoning. */
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

/** `ModelAnswer.provider`. `format` names the shape, so an answer in another shape is rebuilt, not misread. */
const replaySchema = z.strictObject({
  format: z.literal('parts-1'),
  parts: z.array(replayPartSchema),
  /** Options of the message, beside those of its parts. */
  providerOptions: metadataSchema.optional(),
});
export type Replay = Omit<z.infer<typeof replaySchema>, 'format'>;

/** Accepts parts in the form of `ReplayPart` unchecked. The replay rebuilds an answer whose parts do not fit. */
export function packReplay(parts: readonly unknown[], providerOptions: unknown): ModelAnswer['provider'] {
  // Drops undefined keys, so the answer in memory equals the persisted answer.
  return JSON.parse(JSON.stringify({ format: 'parts-1', parts, providerOptions }));
}

/** A later request of the same worker finds the unpacked answers in memory. */
const unpacked = new WeakMap<ModelAnswer, Replay | null>();

/** The recorded parts and options; `null` for another model or another shape, because a signature is valid only for its own model. */
export function unpackReplay(answer: ModelAnswer, model: string): Replay | null {
  if (answer.model !== model) return null;
  const known = unpacked.get(answer);
  if (known !== undefined) return known;
  const replay = replaySchema.safeParse(answer.provider);
  const found = replay.success ? replay.data : null;
  unpacked.set(answer, found);
  return found;
}
