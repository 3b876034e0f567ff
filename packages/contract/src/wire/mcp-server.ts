import { z } from 'zod';
import { callerKindSchema } from '../caller.ts';
import { listOf } from './page.ts';

const json = z.record(z.string(), z.json());
const digest = z.string().regex(/^[0-9a-f]{64}$/, 'expected a digest of 64 hex digits');

/**
 * An entry as the file has it; docs/mcp.md has the fields. An address: `url` and `headers`. A program of the host, which runs in the sandbox
 * of each run: `command`, `args`, `env`, `workspace`, `network`.
 */
export const mcpEntrySchema = z
  .looseObject({
    url: z.string().optional().describe('The address of a server over Streamable HTTP'),
    headers: json.optional().describe('A text, or {secret, value} with {} where the secret belongs'),
    command: z.string().optional().describe('A program. It runs in the sandbox of each run, never outside'),
    args: z.array(z.string()).optional(),
    env: z.record(z.string(), z.string()).optional().describe('In the clear'),
    workspace: z.enum(['read', 'write']).optional(),
    network: z.boolean().optional().describe('Whether the program reaches the hosts of the run'),
    toolsets: z.array(z.string()).optional(),
    timeout_s: z.number().optional(),
  })
  .meta({ id: 'McpEntry' });
export type McpEntry = z.infer<typeof mcpEntrySchema>;

/** A tool in the words of its server: the texts are a stranger's. */
const mcpToolSchema = z.strictObject({
  name: z.string().describe('In the words of the server'),
  called: z.string().describe('The name for models, policies and permissions: mcp__server__tool'),
  description: z.string(),
  input_schema: json,
  hints: z.strictObject({ destructive: z.boolean() }).describe('They lower nothing; destructive raises the risk'),
  risk: z.enum(['medium', 'high']),
});
export type McpTool = z.infer<typeof mcpToolSchema>;

const saidSchema = {
  at: z.iso.datetime(),
  digest: digest.describe('Covers the whole entry and all tools: a person accepts it'),
  server: z.string().describe('Its name and version, as it says'),
  protocol: z.string(),
  tools: z.array(mcpToolSchema),
  left_out: z.record(z.string(), z.string()).describe('Tools that cannot be used, and why'),
};

export const mcpServerSchema = z
  .strictObject({
    name: z.string(),
    state: z
      .enum(['accepted', 'waiting', 'changed', 'needs_login', 'unreachable', 'invalid'])
      .describe(
        'accepted: runs may call its tools. waiting: a person has not accepted it. changed: it, its entry or its acceptance is another than a ' +
          'person accepted. needs_login: it asks for a login, or for another one. unreachable: it did not answer when it was last asked. invalid: its entry cannot be used',
      ),
    why: z.string().nullable().describe('In words, for every state but accepted'),
    offered: z.boolean().describe('Whether runs get its tools now'),
    entry: mcpEntrySchema
      .nullable()
      .describe('Null when it cannot be read. Plain values of headers for keys are hidden'),
    effect: z
      .enum(['read', 'workspace', 'external'])
      .nullable()
      .describe('The effect of its calls, from what is enforced'),
    seen: z
      .strictObject(saidSchema)
      .nullable()
      .describe('The last answer of the server as its entry is now; null: none'),
    failure: z
      .strictObject({ at: z.iso.datetime(), code: z.string(), message: z.string(), next: z.string() })
      .nullable()
      .describe('Its last words, when it did not answer'),
    accepted: z
      .strictObject({
        ...saidSchema,
        by: z.strictObject({ name: z.string(), kind: callerKindSchema.optional() }).nullable(),
        entry: mcpEntrySchema.nullable().describe('The entry at that time; null: an earlier version accepted it'),
      })
      .nullable()
      .describe('What a person accepted last, also when it counts no more'),
  })
  .meta({ id: 'McpServer' });
export type McpServer = z.infer<typeof mcpServerSchema>;

export const mcpServerListSchema = listOf(mcpServerSchema);
export const mcpServerParamsSchema = z.strictObject({ name: z.string() });

/** POST /v1/mcp/servers. */
export const addMcpServerSchema = z.strictObject({
  name: z
    .string()
    .regex(/^[a-z][a-z0-9-]{0,31}$/, 'expected a small letter, then small letters, digits and -, at most 32'),
  server: mcpEntrySchema,
});
export type AddMcpServer = z.input<typeof addMcpServerSchema>;

/** POST /v1/mcp/servers/{name}/accept. */
export const acceptMcpServerSchema = z.strictObject({
  digest: digest.describe('`seen.digest` of the answer that a person looked at'),
});
export type AcceptMcpServer = z.infer<typeof acceptMcpServerSchema>;
