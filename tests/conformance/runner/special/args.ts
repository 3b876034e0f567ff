import { z } from 'zod';
import type { Case } from '../case.ts';
import { SpecialError } from './special.ts';

export const callArgs = z.strictObject({ tool: z.string(), args: z.record(z.string(), z.json()).default({}) });

/** @throws SpecialError */
export function parseArgs<Schema extends z.ZodType>(schema: Schema, args: Case['call']['args']): z.output<Schema> {
  const parsed = schema.safeParse(args);
  if (parsed.success) return parsed.data;
  throw new SpecialError(`the arguments of the special tool: ${z.prettifyError(parsed.error)}`);
}
