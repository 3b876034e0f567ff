import { z } from 'zod';
import type { AskedTools } from './ask-tools.ts';
import { acceptanceDigest, acceptedSchema, entryDigest, type McpServer } from './servers.ts';

/** The answer of a server to a worker's question for its tools, or the server's last words. */
export const lookSchema = z.strictObject({
  /** Digest of the name and the whole entry at the question. */
  entry: z.string(),
  at: z.iso.datetime(),
  asked: acceptedSchema.omit({ at: true, by: true, entry: true, seal: true }).optional(),
  failure: z.strictObject({ code: z.string(), message: z.string(), next: z.string() }).optional(),
});
export type Look = z.output<typeof lookSchema>;
export type LookFailure = NonNullable<Look['failure']>;

/** The record of an answer, or of the last words of a server without one. */
export const lookOf = (
  { name, server }: { name: string; server: McpServer },
  found: { asked: AskedTools } | { failure: LookFailure },
): Look => ({ entry: entryDigest(name, server), at: new Date().toISOString(), ...found });

/** The digest for a person's acceptance: the answer of a server, with its entry. @returns undefined for another entry */
export function digestOfLook(name: string, server: McpServer, look: Look | undefined): string | undefined {
  if (look?.asked === undefined || look.entry !== entryDigest(name, server)) return undefined;
  return acceptanceDigest(name, server, look.asked.digest);
}
