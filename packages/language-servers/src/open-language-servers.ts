import { FileError, type WorkspaceFiles } from '@holdpoint/contract';
import type { HostProgram, Sandbox, WorkspaceMount } from '@holdpoint/sandbox';
import { LanguageServerError } from './errors.ts';
import type { ChangedText, FileRename, NamedPlace, Place, TypeProblem } from './protocol.ts';
import { RunningServer } from './running-server.ts';
import { serverProgram } from './server-program.ts';
import { findServer, hasServer, hostServers, type Looking } from './servers.ts';

export interface LanguageServersOptions {
  sandbox: Pick<Sandbox, 'serve' | 'run' | 'capabilities'>;
  /** Most servers of this worker at once. The server without a question for the longest time ends. 0: none. @default 4 */
  most?: number;
  /** An edit starts no server in the place of a server that was asked within this many milliseconds. @default 60 s */
  keptMs?: number;
  /** @default the program of this package */
  program?: HostProgram;
}

/** A workspace, and its files for the search of its servers. */
interface ServedTree {
  mount: WorkspaceMount;
  files: Pick<WorkspaceFiles, 'read'>;
}

/** A question about a name. */
interface Named extends ServedTree, NamedPlace {
  /** Milliseconds for the answer. The start of a server takes its own time. */
  wait_ms: number;
  signal: AbortSignal;
}

/**
 * The language servers of this worker's runs. A server is a program of the workspace or of the host. It starts at the first question about a file of its
 * language, and keeps its process while questions come.
 */
export interface LanguageServers {
  /**
   * The errors that a change brought into its files, by the server of their language; none after `wait_ms`, or without a server. Never rejects.
   */
  diagnose(asked: ServedTree & { changes: readonly ChangedText[]; wait_ms: number }): Promise<TypeProblem[]>;
  /** The declaration of a name. @throws LanguageServerError */
  definition(named: Named): Promise<{ places: Place[]; total: number }>;
  /** All places of a name, its declaration among them. @throws LanguageServerError */
  references(named: Named): Promise<{ places: Place[]; total: number }>;
  /** The edits of a rename. Changes nothing. @throws LanguageServerError */
  rename(named: Named & { new_name: string }): Promise<FileRename[]>;
  close(): Promise<void>;
}

export function openLanguageServers({
  sandbox,
  most = 4,
  keptMs = 60_000,
  program = serverProgram(),
}: LanguageServersOptions): LanguageServers {
  const running = new Map<string, RunningServer>();
  let onHost: Promise<ReadonlyMap<string, string>> | undefined;

  /** Paths of the servers that the host's programs have, asked once per worker. */
  const hostPrograms = (mount: WorkspaceMount): Promise<ReadonlyMap<string, string>> => {
    onHost ??= findOnHost(sandbox, mount).catch((error: unknown) => {
      onHost = undefined;
      throw error;
    });
    return onHost;
  };

  /**
   * Undefined without a server for the file. The start of a server takes seconds of a processor: many runs that edit at once would end each
   * other's servers and start them again, so a mere edit goes without a server instead.
   */
  const serverOf = async (
    path: string,
    { mount, files }: ServedTree,
    { isEdit = false } = {},
  ): Promise<RunningServer | undefined> => {
    if (most === 0 || sandbox.capabilities.driver !== 'bubblewrap' || !hasServer(path)) return undefined;
    const looking: Looking = {
      read: (one) => textOf(files, one),
      onHost: async (name) => (await hostPrograms(mount)).get(name),
    };
    const start = await findServer(path, looking);
    if (start === undefined) return undefined;
    const key = JSON.stringify([mount.id, mount.path, start]);
    const known = running.get(key);
    const isFull = running.size >= most && [...running.values()].every((one) => one.idleMs < keptMs);
    if (isEdit && known === undefined && isFull) return undefined;
    const server = known ?? new RunningServer(start, () => sandbox.serve(mount, program));
    running.delete(key);
    running.set(key, server);
    for (const [oldest, one] of running) {
      if (running.size <= most) break;
      running.delete(oldest);
      one.end().catch(() => {});
    }
    return server;
  };

  const needed = async (named: Named): Promise<RunningServer> => {
    const server = await serverOf(named.path, named);
    if (server !== undefined) return server;
    throw new LanguageServerError('ENOSERVER', `No language server was found for ${named.path}.`);
  };

  const places = async (
    ask: 'definition' | 'references',
    named: Named,
  ): Promise<{ places: Place[]; total: number }> => {
    const { path, line, symbol, wait_ms, signal } = named;
    const server = await needed(named);
    const reply = await unlessAborted(server.ask({ ask, path, line, symbol, wait_ms }), signal);
    return 'places' in reply ? reply : { places: [], total: 0 };
  };

  const diagnoseAll: LanguageServers['diagnose'] = async ({ changes, wait_ms, ...tree }) => {
    const byServer = new Map<RunningServer, ChangedText[]>();
    for (const one of changes) {
      const server = await serverOf(one.path, tree, { isEdit: true });
      if (server !== undefined) byServer.set(server, [...(byServer.get(server) ?? []), one]);
    }
    const asked = [...byServer].map(async ([server, files]) => {
      // No wait stands between this look and the question: of edits that come together, each sees those before it.
      if (server.waiting >= mostWaiting) return [];
      const reply = await server.ask({ ask: 'diagnostics', files, wait_ms });
      return 'problems' in reply ? reply.problems.filter(({ path }) => isInside(path)) : [];
    });
    return (await Promise.all(asked)).flat();
  };

  return {
    diagnose: (asked) => withinTime(diagnoseAll(asked), asked.wait_ms),
    definition: (named) => places('definition', named),
    references: (named) => places('references', named),
    async rename({ new_name, ...named }) {
      const { path, line, symbol, wait_ms, signal } = named;
      const server = await needed(named);
      const asked = server.ask({ ask: 'rename', path, line, symbol, new_name, wait_ms });
      const reply = await unlessAborted(asked, signal);
      return 'files' in reply ? reply.files : [];
    },
    async close() {
      await Promise.all([...running.values()].map((one) => one.end()));
    },
  };
}

/** A server may say anything of any path. */
const isInside = (path: string): boolean => !/^\/|(^|\/)\.\.(\/|$)|[\p{C}]/u.test(path);

/** An edit behind this many other questions goes without an answer: it would come too late, and hold up the questions behind it. */
const mostWaiting = 2;

const maxManifest = 1024 * 1024;

async function textOf(files: Pick<WorkspaceFiles, 'read'>, path: string): Promise<string | undefined> {
  try {
    return (await files.read(path, { max_bytes: maxManifest })).data.toString('utf8');
  } catch (error) {
    if (error instanceof FileError) return undefined;
    throw error;
  }
}

async function findOnHost(
  sandbox: Pick<Sandbox, 'run'>,
  { id, path, uid, gid }: WorkspaceMount,
): Promise<ReadonlyMap<string, string>> {
  const { stdout } = await sandbox.run({
    workspace: { id, path, uid, gid, readOnly: true },
    argv: ['/bin/sh', '-c', 'for name; do command -v "$name"; done; :', 'sh', ...hostServers],
    signal: AbortSignal.timeout(60_000),
  });
  const found = stdout.text.split('\n').filter((program) => program.startsWith('/'));
  return new Map(found.map((program) => [program.slice(program.lastIndexOf('/') + 1), program]));
}

/** An empty list when the work fails, or takes longer. The work continues: the next question finds its server ready. */
function withinTime(work: Promise<TypeProblem[]>, waitMs: number): Promise<TypeProblem[]> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve([]), waitMs);
    work
      .catch(() => [])
      .then((problems) => {
        clearTimeout(timer);
        resolve(problems);
      });
  });
}

function unlessAborted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  work.catch(() => {});
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
