import { z } from 'zod';
import { policyRuleSchema } from '../policy.ts';
import { effectSchema, riskSchema } from '../vocabulary.ts';
import { listOf } from './page.ts';

export const toolSchema = z
  .strictObject({
    toolset: z.string(),
    name: z.string(),
    description: z.string(),
    effect: z.union([effectSchema, z.literal('by run')]),
    risk: riskSchema,
    label: z.string().describe("The word of the tool's contract for its risk"),
    version: z.string().nullable().describe('Semantic version of its interface'),
    asks: z
      .enum(['no', 'yes', 'look'])
      .describe('Whether a person is asked before a call; look: that depends on the arguments and the workspace'),
    gate: z
      .enum(['input', 'plan'])
      .nullable()
      .describe(
        'input: a question to a person; it always waits for the answer. plan: the plan of a run in plan mode; it always waits for a decision',
      ),
    input_schema: z.record(z.string(), z.json()).describe('JSON Schema (2020-12) of the arguments'),
    output_schema: z
      .record(z.string(), z.json())
      .nullable()
      .describe('JSON Schema of what the tool returns when it succeeds; null: anything'),
  })
  .meta({ id: 'Tool' });
export type Tool = z.infer<typeof toolSchema>;

export const toolListSchema = listOf(toolSchema);
export const listToolsQuerySchema = z.strictObject({ toolset: z.string().optional() });

/** A toolset in the format of a provider or an MCP client; without a format as in GET /v1/tools. */
export const toolsetSchema = z.strictObject({
  name: z.string(),
  format: z.string().describe('holdpoint: as in GET /v1/tools'),
  tools: z.array(z.record(z.string(), z.json())),
});
export type Toolset = z.infer<typeof toolsetSchema>;

export const toolsetListSchema = listOf(
  z.strictObject({
    name: z.string(),
    tools: z.int(),
    rules: z
      .array(policyRuleSchema)
      .describe(
        "Rules of the toolset's contract. They are judged beside the policies, and the strictest verdict counts",
      ),
    asks: z
      .array(z.string())
      .describe(
        'Tools whose every call is held, unless a rule of the run or the operator that names the tool decides, or a remembered rule answers. A setting of the run may change the list',
      ),
  }),
);
export const toolsetParamsSchema = z.strictObject({ name: z.string() });
export const toolsetQuerySchema = z.strictObject({
  format: z
    .string()
    .max(100)
    .optional()
    .describe('openai, openai-functions, anthropic, ollama, mcp, or a form of the toolset itself'),
});
