import { totalmem } from 'node:os';
import { givenLimitsSchema } from '@holdpoint/contract';
import { z } from 'zod';
import { type Ceilings, ceilingsSetting } from './domain/ceilings.ts';

/** JSON: as the `limits` of a run. */
const ceilingsSchema = z
  .string()
  .optional()
  .transform((text, context): unknown => {
    if (text === undefined || text === '') return {};
    try {
      return JSON.parse(text);
    } catch {
      context.addIssue({ code: 'custom', message: 'it is no JSON' });
      return z.NEVER;
    }
  })
  .pipe(givenLimitsSchema);

/**
 * Reads the operator's ceilings from an environment. Without one for the memory of a command it is the memory of the machine.
 * @throws an error naming the variable, and what of it is wrong
 */
export function ceilingsFrom(env: Readonly<Record<string, string | undefined>>): Ceilings {
  const parsed = ceilingsSchema.safeParse(env[ceilingsSetting]);
  if (parsed.success) return { ...parsed.data, command: { memory_bytes: totalmem(), ...parsed.data.command } };
  const wrong = parsed.error.issues.map(({ path, message }) => `${[ceilingsSetting, ...path].join('.')}: ${message}`);
  throw new Error(wrong.join('; '));
}
