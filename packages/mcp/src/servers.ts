import { createHash } from 'node:crypto';
import { callerKindSchema, canonicalJson, secretNameSchema, secretUseSchema } from '@holdpoint/contract';
import type { JsonSchema } from '@holdpoint/tools';
import { z } from 'zod';
import { bounds, bytesOf, depthOf } from './bounds.ts';
import { isLoopback, oauthSchema } from './oauth-settings.ts';

export const nameSchema = z
  .string()
  .regex(/^[a-z][a-z0-9-]{0,31}$/, 'expected a small letter, then small letters, digits and -, at most 32');

const text = z.string().max(4096);
const env = z.record(z.string(), text).superRefine((variables, context) => {
  const wrong = Object.keys(variables).find((name) => !/^[A-Za-z_][A-Za-z0-9_]{0,99}$/.test(name));
  if (wrong === undefined) return;
  context.addIssue({ code: 'custom', path: [wrong], message: 'expected the name of a variable' });
});

/** Its depth is counted first: nothing else walks a schema of any depth. */
const inputSchema = z
  .custom<JsonSchema>((value) => depthOf(value) <= bounds.schemaDepth, {
    error: 'its schema has more than 16 levels',
    abort: true,
  })
  .refine((value) => bytesOf(value) <= bounds.schema, { error: 'its schema has more than 32 KiB', abort: true })
  .refine((value) => value?.type === 'object', 'its input is not an object');

/** A tool in the words of its server at the time of the acceptance. */
export const pinnedToolSchema = z.strictObject({
  name: z.string().min(1).max(bounds.name),
  description: z.string().refine((value) => Buffer.byteLength(value) <= bounds.description, 'it has more than 4 KiB'),
  input_schema: inputSchema,
  /** Hints of the server about the effect. A hint can only raise the risk. */
  hints: z.strictObject({ destructive: z.boolean() }),
});
export type PinnedTool = z.output<typeof pinnedToolSchema>;

export const acceptedSchema = z.strictObject({
  at: z.iso.datetime(),
  /** The revision of the protocol that the server speaks. */
  protocol: z.string().max(40),
  /** Its own name and version, as it says. */
  server: z.string().max(300),
  digest: z.string().regex(/^[0-9a-f]{64}$/),
  tools: z.array(pinnedToolSchema).max(bounds.tools),
  /** Tools that cannot be used, and why. */
  left_out: z.record(z.string(), z.string()),
  /** Who accepted. Absent in acceptances of earlier versions, as the next two. */
  by: z.strictObject({ name: z.string(), kind: callerKindSchema.optional() }).optional(),
  /** The whole entry at that time. */
  entry: z.record(z.string(), z.json()).optional(),
  /** By the key of the installation: no other installation's acceptance counts here. */
  seal: z.string().optional(),
});
export type Accepted = z.output<typeof acceptedSchema>;

const shared = {
  toolsets: z.array(z.string().max(64)).min(1).max(20).default(['holdpoint']),
  timeout_s: z.int().min(1).max(600).default(60),
  accepted: acceptedSchema.optional(),
};

const headerValue = z.union(
  [
    z
      .string()
      .max(4096)
      .regex(/^[\x20-\x7e]*$/, 'expected printable ASCII'),
    z.strictObject({ secret: secretNameSchema, value: z.string().max(1000).default('{}') }),
  ],
  'expected a text, or {secret, value} with {} where the secret belongs',
);

const httpSchema = z
  .strictObject({
    url: z
      .string()
      .max(2000)
      .refine((value) => URL.canParse(value), { error: 'expected a URL', abort: true }),
    headers: z.record(z.string().regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/), headerValue).default({}),
    /** How Holdpoint logs in. @default the server has not asked for a login */
    oauth: oauthSchema.optional(),
    ...shared,
  })
  .superRefine(({ url, headers, oauth }, context) => {
    const { protocol, username, password, hostname, hash } = new URL(url);
    const issue = (message: string) => context.addIssue({ code: 'custom', path: ['url'], message });
    if (protocol !== 'https:' && protocol !== 'http:') issue('expected http or https');
    if (username !== '' || password !== '') issue('a URL is no place for credentials; name a secret in headers');
    if (hash !== '') issue('a server has no #');
    if (oauth !== undefined) {
      if (protocol === 'http:' && !isLoopback(hostname)) issue('a token is sent over https, or to this machine');
      if (hasOwnLogin({ headers })) issue('a server has a header Authorization or a login, not both');
    }
    for (const [name, value] of Object.entries(headers)) {
      if (typeof value === 'string') continue;
      const use = secretUseSchema.safeParse(secretHeader({ url }, name, value));
      const message = use.error?.issues[0]?.message;
      if (message !== undefined) context.addIssue({ code: 'custom', path: ['headers', name], message });
      if (protocol === 'http:' && !isLoopback(hostname)) issue('a secret is sent over https, or to this machine');
    }
  });

const stdioSchema = z.strictObject({
  command: z.string().min(1).max(1000),
  args: z.array(text).max(100).default([]),
  env: env.default({}),
  /** `read`: the server gets the tree read-only. */
  workspace: z.enum(['read', 'write']).default('write'),
  /** Whether the program reaches the hosts of the run. */
  network: z.boolean().default(false),
  ...shared,
});

/** An outside server: over HTTP, or a program that runs in the sandbox of a run. */
export const serverSchema = z.unknown().transform((value, context) => {
  // Not a union: an error then names the wrong field.
  const isHttp = typeof value === 'object' && value !== null && 'url' in value;
  const parsed = isHttp ? httpSchema.safeParse(value) : stdioSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  for (const issue of parsed.error.issues) {
    const unknown = issue.code === 'unrecognized_keys' ? issue.keys.map((key) => [...issue.path, key]) : [];
    for (const path of unknown) context.addIssue({ code: 'custom', path, message: 'unknown field' });
    if (unknown.length === 0) context.addIssue({ code: 'custom', path: issue.path, message: issue.message });
  }
  return z.NEVER;
});
export type HttpServer = z.output<typeof httpSchema>;
export type StdioServer = z.output<typeof stdioSchema>;
export type McpServer = HttpServer | StdioServer;

/** A server whose tools a person has accepted. */
export interface AcceptedServer {
  name: string;
  server: McpServer;
  accepted: Accepted;
}

/** The entry of a server that wants a login. An entry that no login is for stays as it is. */
export const withOAuth = <Server extends McpServer>(server: Server): Server | HttpServer => {
  if (!isHttp(server) || server.oauth !== undefined) return server;
  return httpSchema.safeParse({ ...server, oauth: {} }).data ?? server;
};

export const isHttp = (server: McpServer): server is HttpServer => 'url' in server;

/** `host:port`, as a rule of the network. */
export function hostOf({ url }: Pick<HttpServer, 'url'>): string {
  const { hostname, port, protocol } = new URL(url);
  return `${hostname}:${port === '' ? (protocol === 'https:' ? 443 : 80) : port}`;
}

const secretHeader = (
  { url }: Pick<HttpServer, 'url'>,
  name: string,
  { secret, value }: { secret: string; value: string },
) => ({
  name: secret,
  as: { header: { host: hostOf({ url }), name, value, plain_http: new URL(url).protocol === 'http:' } },
});

/** The secrets of its headers. */
export const secretsOf = (server: HttpServer) =>
  Object.entries(server.headers).flatMap(([name, value]) =>
    typeof value === 'string' ? [] : [secretUseSchema.parse(secretHeader(server, name, value))],
  );

/** Whether the operator gives the server a header with credentials. */
export const hasOwnLogin = ({ headers }: Pick<HttpServer, 'headers'>): boolean =>
  Object.keys(headers).some((name) => name.toLowerCase() === 'authorization');

/** Digest of the tools that a person accepts: names, descriptions, inputs and hints, in the order of the server. */
export const pin = (tools: readonly PinnedTool[]): string => sha256(tools);

/** The entry without its acceptance. */
export function entryOf({ accepted: _, ...entry }: McpServer): Record<string, unknown> {
  return entry;
}

/** Digest of a server's name and whole entry. */
export const entryDigest = (name: string, server: McpServer): string => sha256({ name, entry: entryOf(server) });

/** Digest of the whole entry and the tools: the subject of a person's acceptance. @param tools `pin` of the tools */
export const acceptanceDigest = (name: string, server: McpServer, tools: string): string =>
  sha256({ name, entry: entryOf(server), tools });

export const sha256 = (value: unknown): string => createHash('sha256').update(canonicalJson(value)).digest('hex');
