import type { z } from 'zod';
import { toJsonSchema, type Zod3Schema } from '../json-schema.ts';
import { adaptedSchema } from './adapted-schema.ts';

export function fromZod3<Output>(schema: Zod3Schema<Output>): z.ZodType<Output> {
  return adaptedSchema(toJsonSchema(schema), (input) => {
    const result = schema.safeParse(input);
    return result.success ? { ok: true, value: result.data } : { ok: false, issues: result.error.issues };
  });
}
