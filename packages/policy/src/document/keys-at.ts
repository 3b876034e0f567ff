import { z } from 'zod';

/** The keys known to a schema at a path, in all of its alternatives. */
export function keysAt(schema: z.core.$ZodType, path: readonly PropertyKey[]): string[] {
  const found = path.reduce<z.core.$ZodType[]>(
    (schemas, key) => schemas.flatMap((one) => below(one, key)),
    plain(schema),
  );
  return [...new Set(found.flatMap((one) => (one instanceof z.ZodObject ? Object.keys(one.shape) : [])))];
}

function below(schema: z.core.$ZodType, key: PropertyKey): z.core.$ZodType[] {
  if (schema instanceof z.ZodObject) return plain(schema.shape[String(key)]);
  if (schema instanceof z.ZodArray) return plain(schema.element);
  if (schema instanceof z.ZodRecord) return plain(schema.valueType);
  return [];
}

/** Without defaults, and with each alternative alone. */
function plain(schema: z.core.$ZodType | undefined): z.core.$ZodType[] {
  if (schema === undefined) return [];
  if (schema instanceof z.ZodUnion) return schema.options.flatMap(plain);
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault) {
    return plain(schema.unwrap());
  }
  return [schema];
}
