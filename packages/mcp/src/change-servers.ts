import { randomUUID } from 'node:crypto';
import type { AuditEntry } from '@holdpoint/contract';
import type { AskedTools } from './ask-tools.ts';
import type { FileContent } from './server-file.ts';
import type { ServerStore } from './server-store.ts';
import { type Accepted, acceptanceDigest, entryDigest, entryOf, type McpServer, withOAuth } from './servers.ts';

/** Who changes a server. */
export type ByWhom = NonNullable<Accepted['by']>;

/**
 * Writes a new server. No run uses the server before its acceptance. `same`: the file has the server with this very entry, but for a noted
 * login.
 */
export async function addServer(
  store: ServerStore,
  { name, server, by }: { name: string; server: McpServer; by: ByWhom },
): Promise<'added' | 'same' | 'taken'> {
  let outcome: 'added' | 'same' | 'taken' = 'added';
  await store.change((content) => {
    if (Object.hasOwn(content.servers, name)) {
      const found = store.acceptances.judge(name, content.servers[name]);
      const given = [server, withOAuth(server)].map((entry) => entryDigest(name, entry));
      outcome = found.state !== 'invalid' && given.includes(entryDigest(name, found.server)) ? 'same' : 'taken';
      return undefined;
    }
    const detail = { entry: entryDigest(name, server) };
    return changed(store, content, { name, entry: entryOf(server), ...{ action: 'added', detail, by } });
  });
  return outcome;
}

export type AcceptOutcome = 'accepted' | 'already' | 'unknown' | 'invalid' | 'changed';

/**
 * Lets runs use a server. The digest covers the entry and the tools that a person looked at; `asked` has the present tools. `already`: a
 * person accepted the same before. `changed`: entry or tools have another digest; nothing was accepted.
 */
export async function acceptServer(
  store: ServerStore,
  { name, asked, digest, by }: { name: string; asked: AskedTools; digest: string; by: ByWhom },
): Promise<AcceptOutcome> {
  let outcome: AcceptOutcome = 'accepted';
  await store.change((content) => {
    const found = Object.hasOwn(content.servers, name)
      ? store.acceptances.judge(name, content.servers[name])
      : undefined;
    if (found === undefined || found.state === 'invalid') {
      outcome = found === undefined ? 'unknown' : 'invalid';
      return undefined;
    }
    const { server } = found;
    if (acceptanceDigest(name, server, asked.digest) !== digest) {
      outcome = 'changed';
      return undefined;
    }
    if (found.state === 'accepted' && server.accepted?.digest === asked.digest && server.accepted.seal !== undefined) {
      outcome = 'already';
      return undefined;
    }
    const accepted = store.acceptances.seal(name, server, { ...asked, at: new Date().toISOString(), by });
    const entry = { ...entryOf(server), accepted };
    return changed(store, content, { name, entry, action: 'accepted', detail: { digest }, by });
  });
  return outcome;
}

/** Notes in the entry of a server without an acceptance that it wants a login. An acceptance is of an entry: it stays as it is. */
export const noteLogin = (store: ServerStore, { name, url, by }: { name: string; url: string; by: ByWhom }) =>
  store.change((content) => {
    const found = store.acceptances.judge(name, content.servers[name]);
    if (found.state !== 'waiting' || !('url' in found.server) || found.server.url !== url) return undefined;
    const noted = withOAuth(found.server);
    if (noted === found.server) return undefined;
    const detail = { entry: entryDigest(name, noted) };
    return changed(store, content, { name, entry: entryOf(noted), ...{ action: 'changed', detail, by } });
  });

/** Takes a server away, also one whose entry cannot be used. */
export async function removeServer(
  store: ServerStore,
  { name, by }: { name: string; by: ByWhom },
): Promise<'removed' | 'unknown'> {
  let outcome: 'removed' | 'unknown' = 'removed';
  await store.change((content) => {
    if (!Object.hasOwn(content.servers, name)) {
      outcome = 'unknown';
      return undefined;
    }
    return changed(store, content, { name, entry: undefined, action: 'removed', by });
  });
  return outcome;
}

/** Takes recorded changes out of the file. */
export const forgetChanges = (store: ServerStore, recorded: ReadonlySet<string>): Promise<void> =>
  store.change(({ changes = [], ...content }) => {
    const left = changes.filter(({ id }) => !recorded.has(id));
    return left.length === changes.length ? undefined : { ...content, changes: left };
  });

interface Change extends Pick<AuditEntry, 'action' | 'detail'> {
  name: string;
  /** Undefined: removed. */
  entry: object | undefined;
  by: ByWhom;
}

/** One write has the change and its audit entry: after the death of the process, the next process finds the entry in the file. */
function changed(
  { acceptances }: ServerStore,
  { servers, changes = [] }: FileContent,
  { name, entry, by, ...change }: Change,
): FileContent {
  const { [name]: _, ...others } = servers;
  const record = { id: `change_${randomUUID()}`, time: new Date().toISOString(), tenant: 'default', by };
  return {
    servers: entry === undefined ? others : { ...servers, [name]: entry },
    changes: [...changes, acceptances.sealChange({ ...record, subject: `mcp/${name}`, ...change })],
  };
}
