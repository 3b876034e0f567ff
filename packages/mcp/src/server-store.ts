import { existsSync, realpathSync, statSync } from 'node:fs';
import type { AuditEntry } from '@holdpoint/contract';
import { writeDurably } from '@holdpoint/process/durable-files';
import { withFileLock } from '@holdpoint/process/file-lock';
import { type Acceptances, type JudgedServer, openAcceptances, readAcceptances } from './acceptances.ts';
import { McpError } from './errors.ts';
import { type FileContent, readFileContent, type ServerFile } from './server-file.ts';

/** Milliseconds to wait for other writers. */
const lockMs = 10_000;

/** The servers at one look at the file. A look at an unchanged file returns the same object. */
interface ServersNow {
  servers: ReadonlyMap<string, JudgedServer>;
  /** Changes without a record in the audit log. */
  changes: readonly AuditEntry[];
  /** The file is unreadable now. `servers` has the last readable content, and no server is called. */
  problem?: McpError;
}

/** The operator's file of servers, as a process follows it. */
export interface ServerStore {
  readonly path: string;
  readonly acceptances: Acceptances;
  /**
   * Makes the key of the installation, when there is none: until then nothing is written. For programs that find out first whether the data
   * directory is theirs. A change does it by itself.
   */
  pin(): Promise<void>;
  /** Compares the file's stamp with the last look, and reads a changed file. Takes microseconds for an unchanged file. */
  look(): ServersNow;
  /**
   * Changes the file: one writer at a time among all processes. Untouched entries keep their values.
   * @param work returns the new content; undefined: no change
   * @throws McpError EMCPCONFIG for an unreadable file; the file stays unchanged
   */
  change(work: (content: FileContent) => FileContent | undefined): Promise<void>;
}

/** Opens the file to follow and to change it. @throws McpError EMCPCONFIG */
export async function openServerStore(path: string, dataDir: string): Promise<ServerStore> {
  const store = followServers(path, dataDir);
  await store.pin();
  return store;
}

/** The same, and writes nothing before `pin`. @throws McpError EMCPCONFIG */
export function followServers(path: string, dataDir: string): ServerStore {
  return storeOf(path, dataDir, readAcceptances(dataDir, readFileContent(path).servers));
}

/** The servers of the file, for programs that only read. @throws McpError EMCPCONFIG */
export function readServers(path: string, dataDir: string): ReadonlyMap<string, JudgedServer> {
  const { servers } = readFileContent(path);
  return judgeAll(servers, readAcceptances(dataDir, servers));
}

/** The servers whose tools runs get. */
export const acceptedServers = (servers: ReadonlyMap<string, JudgedServer>): ServerFile =>
  Object.fromEntries(
    [...servers].flatMap(([name, judged]) => (judged.state === 'accepted' ? [[name, judged.server]] : [])),
  );

const judgeAll = (servers: FileContent['servers'], acceptances: Acceptances): ReadonlyMap<string, JudgedServer> =>
  new Map(Object.entries(servers).map(([name, entry]) => [name, acceptances.judge(name, entry)]));

function storeOf(path: string, dataDir: string, first: Acceptances): ServerStore {
  let acceptances = first;
  let isPinned = false;
  const pin = async (): Promise<void> => {
    if (isPinned) return;
    acceptances = await openAcceptances(dataDir, readFileContent(path).servers);
    isPinned = true;
  };
  const read = (): ServersNow => {
    const { servers, changes = [] } = readFileContent(path);
    return { servers: judgeAll(servers, acceptances), changes: changes.map(acceptances.entryOfChange) };
  };
  let stamp = stampOf(path);
  let now = read();
  return {
    path,
    get acceptances() {
      return acceptances;
    },
    pin,
    look() {
      const found = stampOf(path);
      if (found === stamp) return now;
      try {
        now = read();
      } catch (problem) {
        if (!(problem instanceof McpError)) throw problem;
        now = { ...now, problem };
      }
      stamp = found;
      return now;
    },
    async change(work) {
      // A link to a file elsewhere stays a link.
      const target = existsSync(path) ? realpathSync(path) : path;
      try {
        await pin();
        await withFileLock({ path: `${target}.lock`, signal: AbortSignal.timeout(lockMs) }, async () => {
          const content = work(readFileContent(path));
          if (content !== undefined) await write(target, content);
        });
      } catch (cause) {
        if (cause instanceof McpError || isDiskFull(cause)) throw cause;
        const why = cause instanceof Error ? cause.message : String(cause);
        const next = 'Let the API and its operator write this file and its folder. Nothing was changed.';
        throw new McpError('EMCPCONFIG', `${path} cannot be written: ${why}`, next, { cause });
      }
    },
  };
}

async function write(target: string, { servers, changes = [] }: FileContent): Promise<void> {
  const mode = statSync(target, { throwIfNoEntry: false })?.mode ?? 0o600;
  const text = { servers, ...(changes.length > 0 && { changes }) };
  await writeDurably(target, `${JSON.stringify(text, undefined, 2)}\n`, mode & 0o777);
}

const isDiskFull = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT');

/** A writer that replaces or changes the file changes inode or time. */
function stampOf(path: string): string {
  const stats = statSync(path, { throwIfNoEntry: false, bigint: true });
  return stats === undefined ? '' : `${stats.dev} ${stats.ino} ${stats.size} ${stats.mtimeNs} ${stats.ctimeNs}`;
}
