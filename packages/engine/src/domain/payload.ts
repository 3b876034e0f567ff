import { z } from 'zod';

/** Payloads above this many bytes of JSON go to the blob store; the log keeps a reference. */
export const inlineLimit = 32 * 1024;

/** A JSON value in the log: itself, or a reference to a blob with the first characters of its JSON text. */
export const payloadSchema = z.union([
  z.strictObject({ json: z.json() }),
  z.strictObject({ sha256: z.string().regex(/^[0-9a-f]{64}$/), bytes: z.int(), preview: z.string() }),
]);
export type Payload = z.infer<typeof payloadSchema>;
