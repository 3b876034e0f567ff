import { z } from 'zod';
import { givenKindsSchema, ofKindSchema } from './agent-kind.ts';
import { callerSchema } from './caller.ts';
import { limitsSchema } from './limits.ts';
import { modelGoalShape } from './model-options.ts';
import { grantsShape } from './permissions.ts';
import { planSchema } from './plan.ts';
import { operatorPolicySchema, policyPinSchema, policySchema } from './policy.ts';
import { prepareSchema } from './prepare.ts';
import { secretUsesSchema } from './secret.ts';
import { sourceSchema } from './source.ts';
import { prioritySchema } from './vocabulary.ts';

/** The hosts in reach of the run's tools. */
export const networkSchema = z.strictObject({
  allow: z
    .array(z.string().min(1).max(300))
    .max(100)
    .default([])
    .describe('`host`, `host:port` or `*.host:port`; without a port: 80 and 443. Empty: no network at all'),
});
export type Network = z.infer<typeof networkSchema>;

export const settingsSchema = z
  .record(z.string().min(1).max(100), z.json())
  .describe('Settings of the toolset. Those that are absent have their defaults');
export type Settings = z.infer<typeof settingsSchema>;

export const hasNetwork = (network: Network): boolean => network.allow.length > 0;

/**
 * A command with a veto: a publish goes through only when the command succeeds on exactly the published content. The command runs in the
 * sandbox without a network.
 */
export const validatorSchema = z
  .strictObject({
    name: z.string().min(1).max(100).optional(),
    command: z
      .string()
      .min(1)
      .max(100_000)
      .regex(/^[^\0]*$/, 'expected no NUL')
      .describe('For bash. Exit code 0: it passed'),
    timeout_s: z.int().min(1).max(86_400).default(600),
  })
  .meta({ id: 'Validator' });
export type Validator = z.infer<typeof validatorSchema>;
export const validatorsSchema = z
  .array(validatorSchema)
  .max(50)
  .describe(
    'They run one after the other before a publish. The first failure ends the publish, and the source is unchanged',
  );

/** Defaults of a publish. */
export const publishDefaultsSchema = z.strictObject({
  include_ignored: z
    .boolean()
    .default(false)
    .describe('Include what the ignore rules of a git source match. Default: diff and publish leave it out'),
});

const plannedGoals = [
  z.strictObject({ planner: z.literal('scripted'), plan: planSchema }),
  z.strictObject({
    planner: z.literal('model'),
    model: z.string(),
    prompt: z.string().min(1).max(200_000),
    ...modelGoalShape,
  }),
] as const;

/** The goal of a sub-agent: a plan of tool calls, or a prompt for a model. */
export const agentGoalSchema = z.discriminatedUnion('planner', plannedGoals);

export type AgentGoal = z.infer<typeof agentGoalSchema>;

/** The goal of a run: a planned goal, or nothing but the calls sent by its caller. */
export const goalSchema = z.discriminatedUnion('planner', [
  ...plannedGoals,
  z.strictObject({ planner: z.literal('open') }),
]);
export type Goal = z.infer<typeof goalSchema>;

/** Models for the sub-agents of a run, in addition to the run's own model. */
export const modelsSchema = z
  .array(z.string().min(1).max(200))
  .max(50)
  .describe('provider/model, for the sub-agents of the run. The model of the run itself is always allowed');

/** The models permitted to a sub-agent of a run. A sub-agent passes on this list, so the list never grows. */
export const allowedModels = ({ goal, models }: Pick<RunSpec, 'goal' | 'models'>): string[] => [
  ...new Set([...(goal.planner === 'model' ? [goal.model] : []), ...models]),
];

/** The job description of a run. Written once, with `run.created`. */
export const runSpecSchema = z.strictObject({
  title: z.string().max(200).optional(),
  toolset: z.string(),
  /** Settings of the toolset, with its defaults. */
  settings: settingsSchema.default({}),
  goal: goalSchema,
  source: sourceSchema,
  policy: policySchema,
  /** The name and version of `policy` in the store; absent when the request had the document. */
  policy_pin: policyPinSchema.optional(),
  /** The operator's policies in force at the acceptance of the run, or of the run before the fork. */
  operator: z.array(operatorPolicySchema).max(1000).optional(),
  /** Their versions in the policy store, by digest. A policy from a file has none. */
  operator_versions: z.record(z.string(), z.int()).optional(),
  limits: limitsSchema,
  network: networkSchema,
  ...grantsShape,
  secrets: secretUsesSchema.optional(),
  models: modelsSchema.default([]),
  /** Kinds of sub-agents of the request. Its sub-agents may begin them, too. */
  agents: givenKindsSchema.optional(),
  /** For a sub-agent of a kind. */
  agent: ofKindSchema.optional(),
  /** The tools permitted to the run; absent: all of its toolset. */
  tools: z.array(z.string()).optional(),
  validators: validatorsSchema.default([]),
  publish: publishDefaultsSchema.prefault({}),
  prepare: prepareSchema.optional(),
  submitted_by: callerSchema.pick({ name: true, kind: true }).optional(),
  labels: z.record(z.string().min(1).max(63), z.string().max(255)),
  priority: prioritySchema.default('normal'),
});
export type RunSpec = z.infer<typeof runSpecSchema>;
