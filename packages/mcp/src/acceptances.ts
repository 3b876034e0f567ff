import { createHmac, randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type AuditEntry, canonicalJson } from '@holdpoint/contract';
import { createDurably } from '@holdpoint/process/durable-files';
import { z } from 'zod';
import { McpError } from './errors.ts';
import type { WaitingChange } from './server-file.ts';
import * as servers from './servers.ts';

/** An entry of the file, and whether its acceptance counts in this installation. */
export type JudgedServer =
  | { state: 'invalid'; why: string }
  | { state: 'waiting' | 'accepted'; server: servers.McpServer }
  | { state: 'changed'; why: string; server: servers.McpServer };

/** The acceptances that this installation made. */
export interface Acceptances {
  judge(name: string, entry: unknown): JudgedServer;
  /** The acceptance of a server as its entry is now. */
  seal(name: string, server: servers.McpServer, accepted: Omit<servers.Accepted, 'entry' | 'seal'>): servers.Accepted;
  sealChange(change: WaitingChange): WaitingChange;
  /** The audit entry of a change. A change without a seal of this installation has no author, and its words are kept as a claim. */
  entryOfChange(change: WaitingChange): AuditEntry;
}

const recordSchema = z.strictObject({
  key: z.base64().refine((text) => Buffer.from(text, 'base64').length === 32, 'expected 32 bytes'),
  /** Digests of the acceptances from before there were seals, by server. */
  before: z.record(z.string(), z.string()),
});
type KeyRecord = z.output<typeof recordSchema>;

export const acceptancesFile = (dataDir: string): string => join(dataDir, 'mcp-acceptances.json');

/**
 * Opens the key of the installation. The first process makes it, and pins the acceptances of earlier versions as they are in `entries` then:
 * no later acceptance counts without a seal.
 * @throws McpError EMCPCONFIG
 */
export async function openAcceptances(
  dataDir: string,
  entries: Readonly<Record<string, unknown>>,
): Promise<Acceptances> {
  const found = readRecord(dataDir);
  if (found !== undefined) return acceptancesOf(found);
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const record: KeyRecord = { key: randomBytes(32).toString('base64'), before: pinsOf(entries) };
  await createDurably(acceptancesFile(dataDir), `${JSON.stringify(record, undefined, 2)}\n`);
  return acceptancesOf(readRecord(dataDir) ?? record);
}

/** The same without writing, for programs that only read. @throws McpError EMCPCONFIG */
export const readAcceptances = (dataDir: string, entries: Readonly<Record<string, unknown>>): Acceptances =>
  acceptancesOf(readRecord(dataDir) ?? { key: '', before: pinsOf(entries) });

function acceptancesOf({ key, before }: KeyRecord): Acceptances {
  const sealOf = (name: string, { seal: _, ...accepted }: servers.Accepted): string =>
    createHmac('sha256', Buffer.from(key, 'base64')).update(canonicalJson({ name, accepted })).digest('hex');
  const isMine = (name: string, entry: unknown, accepted: servers.Accepted): boolean =>
    accepted.seal === undefined
      ? before[name] === servers.sha256({ name, entry })
      : accepted.seal === sealOf(name, accepted);
  const sealOfChange = ({ seal: _, ...change }: WaitingChange): string =>
    createHmac('sha256', Buffer.from(key, 'base64')).update(canonicalJson({ change })).digest('hex');
  return {
    sealChange: (change) => ({ ...change, seal: sealOfChange(change) }),
    entryOfChange(change) {
      const { seal, ...entry } = change;
      if (key !== '' && seal === sealOfChange(change)) return entry;
      const { by, detail = null } = entry;
      return { ...entry, by: { name: 'unknown' }, detail: { unproven: 'written into the file by hand', by, detail } };
    },
    judge(name, entry) {
      const parsed = servers.serverSchema.safeParse(entry);
      if (!servers.nameSchema.safeParse(name).success)
        return { state: 'invalid', why: `no server can have the name ${name}` };
      if (!parsed.success) return { state: 'invalid', why: mistakesIn(parsed.error, `servers.${name}`) };
      const server = parsed.data;
      const { accepted } = server;
      if (accepted === undefined) return { state: 'waiting', server };
      const why = whyNot(name, server, accepted) ?? (isMine(name, entry, accepted) ? undefined : notMine);
      return why === undefined ? { state: 'accepted', server } : { state: 'changed', why, server };
    },
    seal(name, server, accepted) {
      const entry = z.record(z.string(), z.json()).parse(JSON.parse(canonicalJson(servers.entryOf(server))));
      const whole = { ...accepted, entry };
      return { ...whole, seal: sealOf(name, whole) };
    },
  };
}

const notMine = 'it was accepted in another installation, or its acceptance was changed by hand';

function whyNot(name: string, server: servers.McpServer, accepted: servers.Accepted): string | undefined {
  if (servers.pin(accepted.tools) !== accepted.digest) return 'its accepted tools were changed by hand';
  // An acceptance of an earlier version has no entry: the pins cover it.
  if (accepted.entry === undefined) return undefined;
  const { data: then } = servers.serverSchema.safeParse(accepted.entry);
  if (then !== undefined && servers.entryDigest(name, then) === servers.entryDigest(name, server)) return undefined;
  return 'its entry is another than a person accepted';
}

/** Each mistake with its place. */
const mistakesIn = ({ issues }: Pick<z.ZodError, 'issues'>, place: string): string =>
  issues
    .slice(0, 5)
    .map(({ path, message }) => `${[place, ...path.map(String)].filter(Boolean).join('.')}: ${message}`)
    .join('; ');

function pinsOf(entries: Readonly<Record<string, unknown>>): Record<string, string> {
  const pins = Object.entries(entries).flatMap(([name, entry]): [string, string][] => {
    const { data: server } = servers.serverSchema.safeParse(entry);
    const isEarlier = server?.accepted !== undefined && server.accepted.seal === undefined;
    return isEarlier ? [[name, servers.sha256({ name, entry })]] : [];
  });
  return Object.fromEntries(pins);
}

/** @returns undefined when there is none */
function readRecord(dataDir: string): KeyRecord | undefined {
  const path = acceptancesFile(dataDir);
  try {
    return recordSchema.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return undefined;
    throw new McpError(
      'EMCPCONFIG',
      `${path} cannot be read: it has the key that seals accepted MCP servers.`,
      'Restore it from a backup, or remove it: then each server has to be accepted again.',
      { cause },
    );
  }
}
