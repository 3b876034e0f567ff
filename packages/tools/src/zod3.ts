import { z } from 'zod';
import { toJsonSchema, type Zod3Schema } from './json-schema.ts';
import type { Tool } from './tool.ts';

export interface Zod3Tool<Output = unknown> extends Omit<Tool, 'input' | 'effect' | 'execute' | 'preview'> {
  input: Zod3Schema<Output>;
  effect: ReturnType<EffectOf> | ((args: Output) => ReturnType<EffectOf>);
  execute(context: ContextOf, args: Output): ReturnType<Tool['execute']>;
  preview?(context: ContextOf, args: Output): ReturnType<NonNullable<Tool['preview']>>;
}

type EffectOf = Extract<Tool['effect'], (...args: never[]) => unknown>;
type ContextOf = Parameters<Tool['execute']>[0];

/** A zod 4 schema that parses with the zod 3 schema and has its JSON Schema. Only `defineTool` sees two kinds. */
export function fromZod3<Output>(schema: Zod3Schema<Output>): z.ZodType<Output> {
  const adapted = z.unknown().transform((input, context): Output => {
    const result = schema.safeParse(input);
    if (result.success) return result.data;
    for (const { path, message } of result.error.issues) {
      context.issues.push({ code: 'custom', message, path: [...path], input });
    }
    return z.NEVER;
  });
  const jsonSchema = toJsonSchema(schema);
  adapted._zod.toJSONSchema = () => structuredClone(jsonSchema);
  return adapted;
}
