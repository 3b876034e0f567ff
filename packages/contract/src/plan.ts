import { z } from 'zod';

/** A placeholder in an argument for a value of an earlier step's result. `pointer` is a JSON pointer (RFC 6901). */
export const referenceSchema = z.strictObject({ $from: z.string(), pointer: z.string().default('') });
export type Reference = z.infer<typeof referenceSchema>;

export const callNameSchema = z
  .string()
  .regex(/^[a-z][a-z0-9_]{0,63}$/, 'lower-case letters, digits and underscores, starting with a letter')
  .describe('Lets a later step refer to the result of this one');

const planStepSchema = z.strictObject({
  name: callNameSchema.optional(),
  tool: z.string().min(1),
  args: z.record(z.string(), z.json()).default({}),
});

/** Most calls of a turn, of a plan or a model. */
export const mostCalls = 64;

/** A scripted plan: groups run in sequence. The order of the steps in a group: `turn-order.ts`. */
export const planSchema = z
  .strictObject({
    groups: z
      .array(
        z.strictObject({
          on_error: z.enum(['stop', 'continue']).default('stop'),
          concurrent: z
            .boolean()
            .optional()
            .describe('Steps whose tools can do so run side by side. The others keep their order. Default: false'),
          steps: z.array(planStepSchema).min(1).max(mostCalls),
        }),
      )
      .min(1)
      .max(5000),
  })
  .superRefine((plan, context) => {
    const known = new Set<string>();
    plan.groups.forEach((group, g) => {
      const here: string[] = [];
      group.steps.forEach((step, s) => {
        const path = ['groups', g, 'steps', s];
        if (step.name !== undefined) {
          if (known.has(step.name) || here.includes(step.name)) {
            context.addIssue({
              code: 'custom',
              path: [...path, 'name'],
              message: `the name ${step.name} is taken; give each step a name of its own`,
            });
          }
          here.push(step.name);
        }
        for (const { $from } of references(step.args)) {
          if (!known.has($from)) {
            context.addIssue({
              code: 'custom',
              path: [...path, 'args'],
              message: `$from names ${$from}, but no step of an earlier group has that name`,
            });
          }
        }
      });
      for (const name of here) known.add(name);
    });
  })
  .meta({ id: 'Plan' });
export type Plan = z.infer<typeof planSchema>;
export type PlanStep = Plan['groups'][number]['steps'][number];

/** Reads a JSON value as a reference. Every object with `$from` must be a valid reference. */
export function asReference(value: unknown): Reference | undefined {
  if (typeof value !== 'object' || value === null || !('$from' in value)) return undefined;
  const parsed = referenceSchema.safeParse(value);
  return parsed.success ? parsed.data : undefined;
}

/** All references inside a JSON value, in order. */
export function references(value: unknown): Reference[] {
  const reference = asReference(value);
  if (reference) return [reference];
  if (Array.isArray(value)) return value.flatMap(references);
  if (typeof value === 'object' && value !== null) return Object.values(value).flatMap(references);
  return [];
}
