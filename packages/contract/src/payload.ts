import { z } from 'zod';

/** Larger payloads, in bytes of JSON, go to the blob store; the log keeps a reference. */
export const inlineLimit = 32 * 1024;

/** `toPayload` made it from JSON. Checking it again costs more than the rest of a read of a step. */
const jsonValue: z.ZodType<z.core.util.JSONType, z.core.util.JSONType> = z.any();

/** A JSON value in the log: inline, or a reference to a blob with the first characters of its JSON text. */
export const payloadSchema = z.union([
  z.strictObject({ json: jsonValue }),
  z.strictObject({ sha256: z.string().regex(/^[0-9a-f]{64}$/), bytes: z.int(), preview: z.string() }),
]);
export type Payload = z.infer<typeof payloadSchema>;
