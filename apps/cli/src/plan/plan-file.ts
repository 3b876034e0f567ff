import {
  givenLimitsSchema,
  givenPolicySchema,
  modelsSchema,
  narrowedShape,
  networkSchema,
  type Plan,
  planSchema,
  policyReferenceSchema,
  policySchema,
  prioritySchema,
  publishDefaultsSchema,
  secretUsesSchema,
  settingsSchema,
  validatorsSchema,
} from '@holdpoint/contract';
import { z } from 'zod';

/** A plan file: groups of steps, and settings of the run. */
const headSchema = z.strictObject({
  title: z.string().min(1).max(200).optional(),
  toolset: z.string().min(1).max(64).optional(),
  settings: settingsSchema.optional(),
  policy: givenPolicySchema.optional(),
  limits: givenLimitsSchema.optional(),
  models: modelsSchema.optional(),
  priority: prioritySchema.optional(),
  network: networkSchema.optional(),
  ...narrowedShape,
  secrets: secretUsesSchema.optional(),
  validators: validatorsSchema.optional(),
  publish: publishDefaultsSchema.optional(),
  labels: z.record(z.string().min(1).max(63), z.string().max(255)).optional(),
  groups: z.unknown(),
});

/** A mistake in a policy is one of the shape that was meant. */
const headFor = (value: object): typeof headSchema => {
  const policy: unknown = 'policy' in value ? value.policy : undefined;
  const isReference = typeof policy === 'object' && policy !== null && 'name' in policy;
  const meant = isReference ? policyReferenceSchema : policySchema;
  return headSchema.extend({ policy: meant.optional() }) as unknown as typeof headSchema;
};

export type PlanFile = Omit<z.infer<typeof headSchema>, 'groups'> & { plan: Plan };

export interface PlanMistake {
  path: PropertyKey[];
  /** The key itself is wrong, not its value. */
  key?: string;
  message: string;
}

/** Checks everything that needs no server, and returns every mistake. */
export function checkPlanFile(value: unknown): { ok: true; file: PlanFile } | { ok: false; mistakes: PlanMistake[] } {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { ok: false, mistakes: [{ path: [], message: 'a plan is a mapping with groups' }] };
  }
  const groups: unknown = 'groups' in value ? value.groups : undefined;
  const head = headFor(value).safeParse(value);
  const plan = planSchema.safeParse({ groups });
  if (head.success && plan.success) {
    const { groups: _, ...rest } = head.data;
    return { ok: true, file: { ...rest, plan: plan.data } };
  }
  return { ok: false, mistakes: [...mistakesOf(head.error), ...mistakesOf(plan.error)] };
}

const mistakesOf = (error: z.ZodError | undefined): PlanMistake[] =>
  (error?.issues ?? []).flatMap((issue): PlanMistake[] => {
    const { path, message } = issue;
    if (issue.code !== 'unrecognized_keys') return [{ path, message }];
    return issue.keys.map((key) => ({ path, key, message: `${key} is not known here` }));
  });
