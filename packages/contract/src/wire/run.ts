import { z } from 'zod';
import { absentContentSchema } from '../absent-content.ts';
import { givenKindsSchema, ofKindSchema } from '../agent-kind.ts';
import { tenantSchema } from '../caller.ts';
import { instructionFileSchema, modelRetryingSchema } from '../conversation.ts';
import { runIdSchema } from '../ids.ts';
import { givenLimitsSchema, limitsSchema } from '../limits.ts';
import { modelGoalShape, modelOptionsSchema } from '../model-options.ts';
import { nativeToolset, nativeToolsets, ofOwnLoop } from '../outside-agent.ts';
import { grantsShape, modesSchema, permissionsSchema, protectedPathsSchema } from '../permissions.ts';
import { planSchema } from '../plan.ts';
import { givenPolicySchema, operatorPolicySchema, policyPinSchema, policySchema } from '../policy.ts';
import { prepareSchema } from '../prepare.ts';
import { conflictSummarySchema } from '../publish.ts';
import { runMarkSchema } from '../run-mark.ts';
import { modelsSchema, networkSchema, publishDefaultsSchema, settingsSchema, validatorsSchema } from '../run-spec.ts';
import { secretUsesSchema } from '../secret.ts';
import { sourceSchema } from '../source.ts';
import * as vocabulary from '../vocabulary.ts';
import { lineCommentsSchema } from './comment.ts';
import { cursorOf, integerParameter, listParameter, pageOf } from './page.ts';
import { publishedSchema } from './published.ts';

export const labelsSchema = z
  .record(z.string().min(1).max(63), z.string().max(255))
  .refine((labels) => Object.keys(labels).length <= 64, 'a run has at most 64 labels');

/** Fields for runs with a prompt only. */
const ofPrompts = [
  'model',
  'outside_agent',
  'system',
  'instructions',
  'context',
  'images',
  'fallbacks',
  'options',
  'output_schema',
] as const;

/** POST /v1/runs. The goal is a `prompt` for a model, a `plan` of tool calls, or `open`: exactly one of the three. */
export const createRunSchema = z
  .strictObject({
    title: z.string().min(1).max(200).optional(),
    toolset: z.string().min(1).max(64).default('holdpoint'),
    settings: settingsSchema.default({}),
    prompt: z.string().min(1).max(200_000).optional().describe('The prompt for the model'),
    plan: planSchema.optional().describe('The tool calls, one group after the other'),
    open: z.literal(true).optional().describe('Its calls come with POST /v1/runs/{id}/calls, until it is finished'),
    model: z.string().min(1).max(200).optional().describe('provider/model, for a prompt. Default: HOLDPOINT_MODEL'),
    ...modelGoalShape,
    models: modelsSchema.optional(),
    agents: givenKindsSchema.optional(),
    workspace: z.strictObject({ source: sourceSchema }).default({ source: { type: 'empty' } }),
    policy: givenPolicySchema.prefault({}),
    limits: givenLimitsSchema.default({}),
    network: networkSchema.prefault({}),
    ...grantsShape,
    secrets: secretUsesSchema.default([]),
    validators: validatorsSchema.default([]),
    publish: publishDefaultsSchema.prefault({}),
    prepare: prepareSchema.optional(),
    labels: labelsSchema.default({}),
    priority: vocabulary.prioritySchema.default('normal').describe('The order of jobs when all workers are busy'),
  })
  .superRefine((body, context) => {
    const refuse = (path: string[], message: string) => context.addIssue({ code: 'custom', path, message });
    const given = (['prompt', 'plan', 'open'] as const).filter((goal) => body[goal] !== undefined);
    const [, second] = given;
    if (given.length === 0) refuse([], 'give a prompt, a plan, or open: true');
    if (second !== undefined) refuse([second], `give one of prompt, plan and open, not ${given.join(' and ')}`);
    if (body.outside_agent !== undefined) {
      for (const field of ofOwnLoop)
        if (body[field] !== undefined) refuse([field], `an outside agent takes no ${field}`);
    }
    const native = nativeToolset(body.outside_agent);
    if (native !== undefined) for (const [field, detail] of notNative(body, native)) refuse([field], detail);
    else if (nativeToolsets.includes(body.toolset))
      refuse(
        ['toolset'],
        `${body.toolset} is the toolset of an agent with its own tools: give outside_agent ${body.toolset}:native`,
      );
    if (body.prompt !== undefined) return;
    for (const field of ofPrompts) if (body[field] !== undefined) refuse([field], `${field} belongs to a prompt`);
  });
/** What a run cannot have whose agent keeps its own tools, by field: nothing but its sandbox holds the agent there. */
function notNative(
  { toolset, permissions, modes, network, secrets }: NativeBody,
  native: string,
): (readonly [field: string, detail: string])[] {
  const instead = 'leave out :native for the mode with our tools';
  const no = (field: string, what: string, isGiven: boolean) =>
    isGiven ? [[field, `an agent with its own tools has ${what}; ${instead}`] as const] : [];
  return [
    ...(toolset === native || toolset === 'holdpoint' ? [] : [['toolset', `its toolset is ${native}`] as const]),
    ...no('permissions', 'no permissions of its own', permissions !== undefined),
    ...no('network', 'no network', network.allow.length > 0),
    ...no('secrets', 'no secrets', secrets.length > 0),
    ...no('modes', 'no modes', modes.plan === true || modes.read_only || modes.dry_run || modes.deterministic),
  ];
}

interface NativeBody {
  toolset: string;
  permissions?: readonly string[] | undefined;
  modes: { plan?: unknown; read_only: boolean; dry_run: boolean; deterministic: boolean };
  network: { allow: readonly string[] };
  secrets: readonly unknown[];
}

/** The body from a caller: fields with a default may be absent. */
export type CreateRun = z.input<typeof createRunSchema>;
export type CreateRunBody = z.output<typeof createRunSchema>;

const time = z.iso.datetime();
const snapshotId = z.string();

const usageShape = {
  steps: z.int(),
  active_ms: z.int(),
  input_tokens: z.int(),
  output_tokens: z.int(),
  cached_input_tokens: z.int().describe('Input tokens that providers read from their caches'),
  cost_usd: z.number().describe('Cost of the models whose prices are known'),
};

const blockerSchema = z.strictObject({ run_id: z.string(), reason: vocabulary.problemSchema });

/** A sub-agent with a question to a person. */
const waitingForSchema = z.strictObject({
  task_id: z.string().describe('Its task in the run that it works for'),
  run_id: z.string(),
  title: z.string(),
  status: vocabulary.runStatusSchema.extract(['waiting', 'paused']),
  reason: vocabulary.problemSchema.nullable().describe('Why it is paused'),
  approvals: z.int().describe('Its own pending approvals'),
});
export type WaitingFor = z.infer<typeof waitingForSchema>;

/** Why a run that could continue does not. */
const placeWaitSchema = z.strictObject({
  kind: z.literal('place'),
  ahead: z.int().describe('Runs of its tenant that stand before it in line'),
  in_progress: z.int().describe('Runs of all tenants that have such a place'),
  of: z.int().describe('Places of all workers; tenants with few runs find a quarter more'),
});

const modelWaitSchema = modelRetryingSchema.omit({ left: true, tries: true, queued: true });

const runShape = {
  id: z.string(),
  title: z.string(),
  status: vocabulary.runStatusSchema,
  toolset: z.string(),
  planner: vocabulary.plannerSchema,
  model: z.string().nullable().describe('The model that it asks; the one that it was changed to, if it was'),
  labels: z.record(z.string(), z.string()),
  priority: vocabulary.prioritySchema,
  dry_run: z
    .boolean()
    .describe('Nothing of it is published and no external effect is made: its diff is what would change'),
  seq: z.int().describe("Sequence number of the run's last event"),
  turn: z.int().describe('Number of the last planned turn; 0 before the first'),
  open_steps: z.int().describe('Steps of that turn that are not settled'),
  pending_approvals: z.int().describe('Pending approvals, including those of its sub-agents'),
  paused_agents: z.int().describe('Paused sub-agents, including those of sub-agents'),
  blocker: blockerSchema.nullable().describe('One paused sub-agent, and why it is paused'),
  open_tasks: z.int().describe('Background commands and sub-agents that are not over'),
  messages: z.int().describe('Number of messages that people sent'),
  usage: z
    .strictObject({
      ...usageShape,
      active_ms: z
        .int()
        .describe('Milliseconds that count for `wall_s`: in the status running, not waiting for people'),
      agents: z
        .strictObject({ ...usageShape, count: z.int().describe('Number of sub-agents that were started') })
        .describe('Usage of its sub-agents, including those of sub-agents; `active_ms` is the sum of theirs'),
    })
    .describe('Total usage, including its sub-agents'),
  context: z
    .strictObject({
      tokens: z.int().nullable().describe('Tokens of the last request to the model'),
      window: z.int().nullable().describe('Tokens that the model can read, as far as it is known'),
      compactions: z.int().describe('How often older turns were shortened'),
    })
    .nullable()
    .describe('What the model reads; null: no model was asked'),
  instructions: z.array(instructionFileSchema).describe('Files of the workspace that instruct the model'),
  parent: z
    .strictObject({ run_id: z.string(), task_id: z.string() })
    .nullable()
    .describe('For a sub-agent: the run that it works for'),
  message: z.string().nullable().describe('The last message of a run that succeeded'),
  reason: vocabulary.problemSchema.nullable().describe('Why it is paused or failed'),
  model_wait: modelWaitSchema.nullable().describe('The model that it waits for, because it could not be asked'),
  workspace: z.strictObject({
    base: snapshotId.nullable().describe('The snapshot that the run started with; null until it exists'),
    snapshot: snapshotId.nullable().describe('The current snapshot'),
    absent: absentContentSchema.nullable().describe('What the git source names and the workspace does not have'),
  }),
  publication: z.strictObject({
    status: vocabulary.publicationStatusSchema,
    published: publishedSchema.nullable(),
    conflicts: z.array(conflictSummarySchema),
    reason: vocabulary.problemSchema.nullable().describe('Why a publish failed or was rejected'),
    approval_id: z.string().nullable().describe('The approval that the publish waits for'),
  }),
  mark: runMarkSchema.nullable().describe('What a person thinks of its work; null: not marked'),
  forked_from: z
    .strictObject({ run_id: z.string(), step_id: z.string().nullable() })
    .nullable()
    .describe('The run that this one continues, and the last step that it kept'),
  created_by: z
    .string()
    .nullable()
    .describe('The caller that submitted it; for a sub-agent, the id of the run it works for'),
  tenant: tenantSchema,
  created_at: time,
  started_at: time.nullable(),
  ended_at: time.nullable(),
};

export const runSchema = z.strictObject(runShape).meta({ id: 'Run' });
export type Run = z.infer<typeof runSchema>;

/** GET /v1/runs/{id}: with its request. The calls of a plan are its steps. */
export const runDetailSchema = z
  .strictObject({
    ...runShape,
    output: z.json().describe('The final answer as a value, when the request has an `output_schema`; otherwise null'),
    waits_for: placeWaitSchema
      .optional()
      .describe('It stands in line for a place among the runs in progress; absent: it does not'),
    waiting_for: z.array(waitingForSchema).describe('Sub-agents at any depth that wait for an approval or are paused'),
    request: z.strictObject({
      prompt: z.string().nullable(),
      system: z.string().nullable().describe('Instructions of the run, before those of its workspace'),
      instructions: z.boolean().describe('Whether its model reads AGENTS.md and CLAUDE.md of the workspace'),
      context: modelGoalShape.context.describe('Parts that the instructions leave out; absent: none'),
      images: z.int().describe('Images of the prompt'),
      fallbacks: z.array(z.string()).describe('Models that are asked while the one before cannot be reached'),
      options: modelOptionsSchema,
      output_schema: z.record(z.string(), z.json()).nullable(),
      outside_agent: z
        .string()
        .nullable()
        .describe('The agent of others that decides its calls; null: Holdpoint itself'),
      prepare: prepareSchema.nullable(),
      settings: settingsSchema.describe('Settings of the toolset, with its defaults'),
      source: sourceSchema,
      policy: policySchema,
      policy_pin: policyPinSchema
        .nullable()
        .describe('The named policy that it is; null: the request had the document'),
      operator_policies: z
        .array(
          z.strictObject({
            digest: z.string(),
            version: z.int().nullable().describe('In the store; null: from a file'),
            policy: operatorPolicySchema,
          }),
        )
        .describe("The operator's policies that apply beside the run's own: the strictest decides"),
      limits: limitsSchema,
      models: z.array(z.string()).describe('Models that its sub-agents may use'),
      agents: givenKindsSchema,
      agent: ofKindSchema.nullable().describe('For a sub-agent of a kind'),
      tools: z.array(z.string()).nullable().describe('The tools that it may call; null: all of its toolset'),
      network: networkSchema.describe('As far as the permissions and modes leave it open'),
      permissions: permissionsSchema.nullable().describe('null: no limit beside the policy'),
      protected: protectedPathsSchema,
      modes: modesSchema,
      secrets: secretUsesSchema,
      validators: validatorsSchema,
      publish: publishDefaultsSchema,
    }),
  })
  .meta({ id: 'RunDetail' });
export type RunDetail = z.infer<typeof runDetailSchema>;

export const runPageSchema = pageOf(runSchema);

/** GET /v1/runs. */
const labelOfRunsSchema = z
  .string()
  .regex(/^[^:]+:/, 'expected name:value')
  .describe('name:value');

export const listRunsQuerySchema = z.strictObject({
  status: listParameter(vocabulary.runStatusSchema).optional().describe('One or more, separated by commas'),
  label: labelOfRunsSchema.optional(),
  title: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe(
      'Part of the title, in upper or lower case. A page looks at 10,000 titles at most: it may be short or empty and still have a `next_cursor`',
    ),
  created_after: z.iso.datetime({ offset: true }).optional(),
  created_before: z.iso.datetime({ offset: true }).optional(),
  limit: integerParameter(1, 200).default(50),
  cursor: cursorOf(runIdSchema).optional(),
});

/** GET /v1/runs/counts. */
export const countRunsQuerySchema = z.strictObject({ label: labelOfRunsSchema.optional() });

export const runCountsSchema = z
  .strictObject({
    total: z.int(),
    by_status: z.record(vocabulary.runStatusSchema, z.int()).describe('The number of runs of each status'),
    by_reason: z
      .array(z.strictObject({ status: vocabulary.runStatusSchema, reason: z.string(), count: z.int() }))
      .describe('The reasons of waiting and paused runs'),
    at_least: z
      .array(vocabulary.runStatusSchema)
      .describe('With `label`: the statuses that have more than 100,000 runs, where counting stopped'),
  })
  .meta({ id: 'RunCounts' });
export type RunCounts = z.infer<typeof runCountsSchema>;

/** POST /v1/runs/{id}/resume. */
export const resumeRunSchema = z.strictObject({
  accept_new_version: z
    .boolean()
    .default(false)
    .describe('Continue although tools changed since the run started (409 `tools_changed` otherwise)'),
  model: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe('provider/model: the model that the run itself continues with; its sub-agents keep theirs'),
});
export type ResumeRun = z.input<typeof resumeRunSchema>;

/** POST /v1/runs/{id}/messages. */
export const sendMessageSchema = z.strictObject({
  text: z.string().max(100_000).regex(/\S/, 'say something'),
  comments: lineCommentsSchema,
  wake: z
    .boolean()
    .optional()
    .describe(
      'Continue a run of a model that has succeeded, with its conversation and its files; each limit counts from here. What was published stays; the next publish adds to it',
    ),
});
export const sentMessageSchema = z.strictObject({ message_id: z.string() }).meta({ id: 'SentMessage' });
export type SentMessage = z.infer<typeof sentMessageSchema>;

export const cancelRunSchema = z.strictObject({ message: z.string().max(10_000).optional() });
