import { z } from 'zod';
import { defaultTenant } from './default-tenant.ts';

export const callerKindSchema = z.enum(['person', 'service', 'agent']);
/** The holder of a key: a person, a program of a person, or an agent. An agent never decides on approvals. */
export type CallerKind = z.infer<typeof callerKindSchema>;

export const tenantSchema = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'expected 1 to 63 lower case letters, digits and hyphens');
/** Runs, approvals, events, files and keys belong to a tenant. Another tenant's id is unknown. */
export type Tenant = z.infer<typeof tenantSchema>;

/** Plain ASCII: two names with the same look are the same name. */
export const callerNameSchema = z
  .string()
  .regex(
    /^[A-Za-z0-9](?:[A-Za-z0-9 ._@+-]{0,98}[A-Za-z0-9])?$/,
    'expected 1 to 100 letters, digits, spaces and . _ @ + -, beginning and ending with a letter or digit',
  )
  .refine(
    (name) => !/^(retention|the operator|the key file|the policy|run_.*)$/i.test(name),
    'Holdpoint itself has this name',
  );

/** Who sends a request. `created_by` and `by` are the name. */
export const callerSchema = z.strictObject({ name: z.string(), kind: callerKindSchema, tenant: tenantSchema });
export type Caller = z.infer<typeof callerSchema>;

/** The permissions of a key, by scope. */
export const scopes = {
  'runs:read': 'Read runs, steps, tasks, events, files and diffs',
  'runs:write':
    'Submit, message, pause, resume, cancel, undo, retry, fork, publish and discard runs. A key of kind agent does not publish or discard',
  'approvals:read': 'Read approvals',
  'approvals:decide': 'Decide on approvals. A key of kind agent never has it',
  'tools:read': 'Read tools and toolsets',
  'policies:read': 'Read and test policies',
  'policies:write': 'Change policies. A key of kind agent never has it',
  'schedules:read': 'Read schedules',
  'schedules:write':
    'Change, pause, resume and trigger schedules, which submit runs with the rights of the key. A key of kind agent never has it',
  'evals:write':
    'Mark runs as good or bad, and begin and cancel evaluations, which repeat runs with the rights of the key. A key of kind agent never has it',
  'webhooks:read': 'Read webhook endpoints and their deliveries. A key of kind agent never has it',
  'webhooks:write':
    'Change, test and redeliver webhooks, which report runs to other systems. A key of kind agent never has it',
  'secrets:read': 'Read the names of secrets; nothing reads their values',
  'secrets:write': 'Set and remove secrets',
  'audit:read': 'Read and export the audit records',
  'audit:verify': 'Check the audit log of the whole installation',
  'queues:admin':
    'Read queues, workers, stuck runs and metrics of the whole installation, pause queues, and set log levels',
  'keys:admin': 'Create, read, rotate and revoke keys',
  'mcp:read': 'Read the outside MCP servers of the installation and their tools. A key of kind agent never has it',
  'mcp:write': 'Add, look at, accept and remove outside MCP servers. A key of kind agent never has it',
} as const;
export type Scope = keyof typeof scopes;
export const allScopes = Object.keys(scopes) as [Scope, ...Scope[]];
export const scopeSchema = z.enum(allScopes);

/** They concern all tenants: only keys of the operator's tenant hold them. */
export const installationScopes: ReadonlySet<Scope> = new Set([
  'queues:admin',
  'audit:verify',
  'mcp:read',
  'mcp:write',
]);

const neverOfAgents: Partial<Record<Scope, string>> = {
  'approvals:decide': 'release its own calls',
  'policies:write': 'change its own bounds',
  'schedules:write': 'give itself work after its end',
  'evals:write': 'judge its own work, and repeat runs after its end',
  'webhooks:read': 'read where its runs are reported to',
  'webhooks:write': 'send data to addresses of its choice',
  'mcp:read': "read the operator's programs and addresses",
  'mcp:write': 'give itself tools',
};

/** Why no key of a caller can hold a scope: agents decide nothing, change no policy and no MCP server, and only the operator's tenant sees the whole installation. */
export function whyNeverHeld({ kind, tenant }: Pick<Caller, 'kind' | 'tenant'>, scope: Scope): string | undefined {
  const could = kind === 'agent' ? neverOfAgents[scope] : undefined;
  if (could !== undefined) return `a key of kind ${kind} can never hold ${scope}: otherwise an agent could ${could}`;
  if (tenant === defaultTenant || !installationScopes.has(scope)) return undefined;
  return `only keys of the tenant ${defaultTenant} can hold ${scope}, which concerns the whole installation`;
}

export const isHeldBy = (caller: Pick<Caller, 'kind' | 'tenant'>, scope: Scope): boolean =>
  whyNeverHeld(caller, scope) === undefined;

/**
 * Redis set: the persons who have ever held a key with this name in the tenant. Packages that issue keys write it, and packages that count
 * voters read it. A name without an entry is its own person.
 */
export const personsKey = (tenant: Tenant, name: string): string => `hp:{keys}:persons:${tenant}:${name.toLowerCase()}`;
