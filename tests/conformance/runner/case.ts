import { z } from 'zod';
import { fileMatcherSchema, matcherSchema } from './matcher.ts';

/** `repeat`, `count` times. */
export const generatorSchema = z.strictObject({ repeat: z.string(), count: z.int().min(0) });

const generated = z.strictObject({ generator: generatorSchema });
const expanded = z.strictObject({ $gen: generatorSchema });
const mode = z.string().regex(/^[0-7]{3,4}$/, 'expected octal digits');
/** Arguments; each `{"$gen": …}` in them is a generator. */
const args = z.record(z.string(), z.json()).superRefine((value, context) => checkGenerators(value, [], context));
const texts = z.record(z.string(), z.string());

const fileSchema = z.union([
  z.string(),
  z.strictObject({ text: z.string(), mode: mode.optional(), mtime: z.number().optional() }),
  z.strictObject({ base64: z.base64(), mode: mode.optional(), mtime: z.number().optional() }),
  z.strictObject({ generator: generatorSchema, mode: mode.optional(), mtime: z.number().optional() }),
]);
export type SetupFile = z.output<typeof fileSchema>;

const routeSchema = z.strictObject({
  path: z.string().startsWith('/'),
  method: z.string().optional(),
  status: z.int().min(100).max(599).optional(),
  headers: texts.optional(),
  body: z.union([z.string(), z.strictObject({ base64: z.base64() }), generated, expanded, generatorSchema]).optional(),
  delay_ms: z.int().min(0).optional(),
  echo: z.boolean().optional(),
});
export type Route = z.output<typeof routeSchema>;

const setupCallSchema = z.strictObject({ tool: z.string(), args, save: texts.optional() });

const agentSchema = z.strictObject({
  status: z.enum(['success', 'failed']),
  stdout: z.string().default(''),
  stderr: z.string().default(''),
  exit_code: z.int().default(0),
  delay_ms: z.int().min(0).optional(),
});
export type AgentStub = z.output<typeof agentSchema>;

const graphSchema = z.union([
  z.strictObject({ results: z.array(z.json()) }),
  z.strictObject({ echo: z.literal(true) }),
  z.strictObject({ throws: z.string() }),
]);
export type GraphStub = z.output<typeof graphSchema>;

const hitSchema = z.strictObject({ title: z.string(), url: z.string(), snippet: z.string() });
export type Hit = z.output<typeof hitSchema>;

const configSchema = z
  .strictObject({
    allow_loopback: z.boolean(),
    url_allowlist: z.array(z.string()),
    bash_timeout_ms: z.int().min(1),
    bash_allowlist: z.array(z.string()),
    limits: z
      .strictObject({ timeoutMs: z.int().min(1), maxOutputBytes: z.int().min(0), maxFileBytes: z.int().min(0) })
      .partial(),
    registry: z.literal('read-only'),
    deterministic: z.boolean(),
  })
  .partial();
export type Config = z.output<typeof configSchema>;

const setupSchema = z.strictObject({
  files: z.record(z.string(), fileSchema).default({}),
  dirs: z.array(z.union([z.string(), z.strictObject({ path: z.string(), mode: mode.optional() })])).default([]),
  symlinks: texts.default({}),
  outside: z.record(z.string(), fileSchema).default({}),
  generate: z
    .array(
      z.strictObject({
        kind: z.literal('files'),
        dir: z.string(),
        count: z.int().min(0),
        name: z.string(),
        content: z.string(),
      }),
    )
    .default([]),
  calls: z.array(setupCallSchema).default([]),
  wait_ms: z.int().min(0).default(0),
  http: z.array(routeSchema).optional(),
  search: z.array(hitSchema).optional(),
  answers: z.array(z.string()).default([]),
  agent: agentSchema.optional(),
  model: z.strictObject({ reply: z.string() }).optional(),
  graph: graphSchema.optional(),
  secrets: texts.optional(),
  host_env: texts.default({}),
  config: configSchema.default({}),
});
export type Setup = z.output<typeof setupSchema>;

const contextSchema = z.strictObject({ permissions: z.array(z.string()), dryRun: z.boolean(), env: texts }).partial();
export type CallContext = z.output<typeof contextSchema>;

const decisionSchema = z.strictObject({ approved: z.boolean(), modifiedArgs: args.optional() });
export type Decision = z.output<typeof decisionSchema>;

const expectSchema = z.strictObject({
  ok: z.boolean().optional(),
  any_ok: z.boolean().optional(),
  error_code: z.union([z.string().transform((code) => [code]), z.array(z.string()).min(1)]).optional(),
  result: z.record(z.string().regex(/^(\/.*)?$/s, 'expected a JSON pointer'), matcherSchema).default({}),
  files: z.record(z.string(), fileMatcherSchema).default({}),
  approval: z.strictObject({ required: z.boolean().optional(), risk: z.string().optional() }).optional(),
  outside_unchanged: z.literal(true).optional(),
  http_hits: z.int().min(0).optional(),
  max_ms: z.number().positive().optional(),
  max_result_bytes: z.int().min(0).optional(),
  result_not_contains: z.array(z.string().min(1)).default([]),
  log_not_contains: z.array(z.string().min(1)).default([]),
  pids_dead_from: z.array(z.string()).default([]),
});
export type Expect = z.output<typeof expectSchema>;

/** A case: a line of a case file. */
export const caseSchema = z.strictObject({
  id: z.string().min(1),
  requirement: z.array(z.string()).default([]),
  toolset: z.string(),
  origin: z.enum(['seed-example', 'origin-tests', 'derived']),
  note: z.string().default(''),
  depends_on: z.string().optional(),
  disputed: z.string().min(1).optional(),
  dangerous: z.boolean().default(false),
  skip_if: z.literal('root').optional(),
  setup: setupSchema.prefault({}),
  call: z.strictObject({
    tool: z.string(),
    args,
    context: contextSchema.default({}),
    decision: decisionSchema.optional(),
  }),
  expect: expectSchema,
});
export type Case = z.output<typeof caseSchema>;

function checkGenerators(value: z.core.util.JSONType, path: (string | number)[], context: z.RefinementCtx): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, one] of Object.entries(value)) {
    const at = [...path, key];
    if (key !== '$gen') checkGenerators(one, at, context);
    else if (!generatorSchema.safeParse(one).success || Object.keys(value).length !== 1) {
      context.addIssue({ code: 'custom', path: at, message: 'expected {repeat, count} alone' });
    }
  }
}
