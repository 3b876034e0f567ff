import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { auditEntrySchema } from '@holdpoint/contract';
import { z } from 'zod';
import { McpError } from './errors.ts';
import { type McpServer, nameSchema } from './servers.ts';

/** @throws McpError EMCPCONFIG for a name that no server can have */
export function checkName(name: string): void {
  const { error } = nameSchema.safeParse(name);
  if (error === undefined) return;
  throw new McpError(
    'EMCPCONFIG',
    `A server cannot have the name ${name}: ${error.issues[0]?.message}.`,
    'Choose another.',
  );
}

export type ServerFile = Readonly<Record<string, McpServer>>;

/** The file as written, with entries of any form: a change of one entry keeps the values of the other entries. */
const contentSchema = z.strictObject({
  servers: z.record(z.string(), z.unknown()),
  /** Changes without a record in the audit log. The seal is by the key of the installation. */
  changes: z
    .array(auditEntrySchema.extend({ seal: z.string().max(64).optional() }))
    .max(1000)
    .optional(),
});
export type FileContent = z.output<typeof contentSchema>;
export type WaitingChange = NonNullable<FileContent['changes']>[number];

/** The operator's file of outside servers. @param env HOLDPOINT_MCP_SERVERS has another path */
export const serversFile = (dataDir: string, env: Readonly<Record<string, string | undefined>>): string =>
  env.HOLDPOINT_MCP_SERVERS || join(dataDir, 'mcp-servers.json');

/** @returns the content of the file; no servers without a file. @throws McpError EMCPCONFIG for a file of another form, with the place */
export function readFileContent(path: string): FileContent {
  const content = textOf(path);
  if (content === undefined) return { servers: {} };
  const parsed = contentSchema.safeParse(json(path, content));
  if (parsed.success) return parsed.data;
  const mistakes = parsed.error.issues.slice(0, 5).map(({ path: at, message }) => `${at.join('.')}: ${message}`);
  throw unusable(path, mistakes.join('; '));
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw unusable(path, error instanceof Error ? error.message : String(error));
  }
}

function json(path: string, content: string): unknown {
  try {
    return JSON.parse(content);
  } catch (error) {
    throw unusable(path, error instanceof Error ? error.message : String(error));
  }
}

const unusable = (path: string, why: string): McpError =>
  new McpError('EMCPCONFIG', `The servers in ${path} cannot be used: ${why}`, 'Correct the file, or take it away.');
