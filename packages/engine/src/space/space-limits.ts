import { z } from 'zod';

/** The space to keep free on the disk of the data directory. */
export interface SpaceLimits {
  /** Workers take no new job below this. */
  floor: number;
  /** Size of the reserve: the file is removed when space runs out, so Redis and the log can finish running steps. */
  reserve: number;
}

const bytes = (otherwise: number) =>
  z
    .string()
    .optional()
    .transform((text) => (text === undefined || text === '' ? otherwise : Number(text)))
    .pipe(z.int().min(0));

const mebibyte = 1024 * 1024;
const schema = z.object({
  HOLDPOINT_FREE_BYTES: bytes(256 * mebibyte),
  HOLDPOINT_RESERVE_BYTES: bytes(64 * mebibyte),
});

/** Reads an environment. @throws an error naming the variable */
export function spaceLimitsFrom(env: Readonly<Record<string, string | undefined>>): SpaceLimits {
  const parsed = schema.safeParse(env);
  if (!parsed.success) {
    throw new Error(parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; '));
  }
  return { floor: parsed.data.HOLDPOINT_FREE_BYTES, reserve: parsed.data.HOLDPOINT_RESERVE_BYTES };
}
