import { z } from 'zod';

/** Larger payloads, in bytes of JSON, go to the blob store; the log keeps a reference. */
export const inlineLimit = 32 * 1024;

/** The same for the results of steps. Arguments and the content of approvals stay in the log: an approval shows them whole. */
export const resultLimit = 2 * 1024;

/** The type of the value written by `toPayload`. Exists for the compiler alone. */
declare const written: unique symbol;

/** A JSON value in the log: inline, or a reference to a blob with the first characters of its JSON text. */
export type Payload<Value = z.core.util.JSONType> = (
  | { json: z.core.util.JSONType }
  | { sha256: string; bytes: number; preview: string }
) & { readonly [written]?: Value };

/**
 * `toPayload` made the value from JSON, and its type names the value's type: a second check costs more than the rest of a read of a step.
 */
export const payloadSchema: z.ZodType<Payload, Payload> = z
  .union([
    z.strictObject({ json: z.any() }),
    z.strictObject({ sha256: z.string().regex(/^[0-9a-f]{64}$/), bytes: z.int(), preview: z.string() }),
  ])
  .meta({ id: 'Payload' });

/** The payload of a value from the engine alone: readers need not parse the value. */
export const payloadOf = <Value>() => payloadSchema as z.ZodType<Payload<Value>, Payload<Value>>;
