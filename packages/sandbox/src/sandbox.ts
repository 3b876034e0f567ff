import { mkdirSync } from 'node:fs';
import type { CapabilityReport, CommandResult, ProcessLimits, SearchResult, WorkspaceFiles } from '@holdpoint/contract';
import type { SpaceGuard } from './disk-space/space-guard.ts';
import { Connection, type ConnectionDeps } from './files/connection.ts';
import { runSearch } from './files/search.ts';
import { toolHostFiles } from './files/tool-host-files.ts';
import { type FrozenStart, frozenStart } from './frozen-start.ts';
import * as port from './port.ts';
import { type FreezeLocks, killAll, type ProcessRecords, thawAbandoned, withFrozen } from './process/index.ts';
import { StartedProgram } from './programs/started-program.ts';
import { runCommand } from './run-command.ts';
import { printVersions, readVersions, runtimeCandidates } from './runtimes.ts';
import type { WorkspaceSizes } from './workspace-size/sizes.ts';

export interface HostSandboxDeps extends ConnectionDeps {
  capabilities: CapabilityReport;
  walls: boolean;
  records: ProcessRecords;
  freezeLocks: FreezeLocks;
  limits: Partial<ProcessLimits> | undefined;
  sizes: WorkspaceSizes;
  guard: SpaceGuard;
  /** An empty directory, mounted as the workspace of a program without a workspace. */
  emptyDirectory: string;
  /** Monotonic clock in milliseconds. */
  now(): number;
}

/** Interval of a worker's checks for commands left frozen by a dead worker. */
const thawCheckMs = 500;

/** A probed driver with its running commands, tool hosts and programs. */
export class HostSandbox implements port.Sandbox {
  readonly #deps: HostSandboxDeps;
  readonly #frozenStart: FrozenStart;
  readonly #closing = new AbortController();
  readonly #running = new Set<Promise<unknown>>();
  readonly #connections = new Map<string, Connection>();
  readonly #programs = new Set<StartedProgram>();
  #runtimes: Promise<readonly port.Runtime[]> | undefined;

  constructor(deps: HostSandboxDeps) {
    this.#deps = deps;
    this.#frozenStart = frozenStart(deps);
  }

  get capabilities(): CapabilityReport {
    return this.#deps.capabilities;
  }

  get walls(): boolean {
    return this.#deps.walls;
  }

  get spares(): port.SpareCounts {
    return this.#deps.driver.spares?.() ?? { waiting: 0, used: 0, dropped: 0 };
  }

  get ripgrep(): string {
    return this.#deps.driver.ripgrep;
  }

  runtimes(run: Pick<port.WorkspaceMount, 'id' | 'uid' | 'gid'>): Promise<readonly port.Runtime[]> {
    this.#assertOpen();
    this.#runtimes ??= this.#askRuntimes(run).catch((error: unknown) => {
      this.#runtimes = undefined;
      throw error;
    });
    return this.#runtimes;
  }

  async run(command: port.Command): Promise<CommandResult> {
    this.#assertOpen();
    const running = runCommand(
      { ...this.#deps, frozenStart: this.#frozenStart, closing: this.#closing.signal },
      command,
    );
    this.#running.add(running);
    const thawing =
      command.label === undefined ? undefined : setInterval(() => this.#thawAbandoned(command), thawCheckMs);
    try {
      return await running;
    } finally {
      clearInterval(thawing);
      this.#running.delete(running);
    }
  }

  files(workspace: port.WorkspaceMount): WorkspaceFiles {
    this.#assertOpen();
    return toolHostFiles(() => this.#connect(workspace));
  }

  async search(search: port.Search): Promise<SearchResult> {
    this.#assertOpen();
    return runSearch({ ...this.#deps, connect: () => this.#connect(search.workspace) }, search);
  }

  start(run: Pick<port.WorkspaceMount, 'id' | 'uid' | 'gid'>, program: port.HostProgram): StartedProgram {
    return this.#startProgram({ ...this.#emptyWorkspace(run), readOnly: true }, program);
  }

  serve(workspace: port.WorkspaceMount, program: port.HostProgram): StartedProgram {
    const { name } = this.#deps.driver;
    if (name !== 'bubblewrap') {
      const next = 'Run workers with bubblewrap.';
      const message = `The sandbox driver ${name} cannot keep the ${program.name} from writing.`;
      throw new port.SandboxError('ECOMMANDINVALID', message, { retryable: false, next });
    }
    return this.#startProgram({ ...workspace, readOnly: true }, program);
  }

  #startProgram(workspace: port.WorkspaceMount, program: port.HostProgram): StartedProgram {
    this.#assertOpen();
    const started = new StartedProgram(this.#deps, { workspace, program });
    this.#programs.add(started);
    const forget = () => this.#programs.delete(started);
    started.ended.then(forget, forget);
    return started;
  }

  async #askRuntimes(run: Pick<port.WorkspaceMount, 'id' | 'uid' | 'gid'>): Promise<readonly port.Runtime[]> {
    const { driver } = this.#deps;
    const candidates = runtimeCandidates(driver.toolchains);
    const { end, stdout } = await this.run({
      workspace: this.#emptyWorkspace(run),
      argv: ['/bin/bash', '-c', printVersions, 'bash', ...candidates.map(({ path }) => path)],
      kept_bytes: 1024 * 1024,
      signal: this.#closing.signal,
    });
    if (end.status !== 'exited') {
      const next = 'Look at the logs of the worker; the next run asks again.';
      throw new port.SandboxError('ESANDBOXSETUP', 'The versions of node and python3 could not be asked for.', {
        retryable: true,
        next,
      });
    }
    const own = {
      language: 'node',
      path: driver.node,
      version: process.versions.node,
      isFirst: false,
      isOwn: true,
    } as const;
    return [...readVersions(candidates, stdout.text), own];
  }

  /** The empty directory as a workspace. */
  #emptyWorkspace({ id, uid, gid }: Pick<port.WorkspaceMount, 'id' | 'uid' | 'gid'>): port.WorkspaceMount {
    const path = this.#deps.emptyDirectory;
    mkdirSync(path, { recursive: true, mode: 0o755 });
    return { id, uid, gid, path, readOnly: this.#deps.driver.name === 'bubblewrap' };
  }

  async killAll(workspaceId: string): Promise<void> {
    await killAll(this.#deps, workspaceId);
  }

  async kill(workspaceId: string, label: string): Promise<void> {
    await killAll(this.#deps, workspaceId, label);
  }

  withFrozen<Result>(workspaceId: string, action: (frozen: number) => Promise<Result>): Promise<Result> {
    return withFrozen(this.#deps, workspaceId, action);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(new Error('the sandbox was closed'));
    await Promise.all([...this.#connections.values(), ...this.#programs].map((one) => one.close()));
    await Promise.allSettled(this.#running);
    await this.#deps.driver.release();
  }

  /** Each worker thaws its own running commands. A command dies with its worker, so a command always has a worker to thaw it. */
  #thawAbandoned({ workspace }: port.Command): void {
    // The next check tries again.
    thawAbandoned(this.#deps, workspace.id).catch(() => {});
  }

  #connect(workspace: port.WorkspaceMount): Connection | Promise<Connection> {
    this.#assertOpen();
    const key = JSON.stringify([
      workspace.id,
      workspace.path,
      workspace.uid,
      workspace.gid,
      workspace.readOnly === true,
      workspace.sourceFolders ?? [],
    ]);
    return this.#usable(key) ?? this.#frozenStart(workspace, () => this.#open(key, workspace));
  }

  #open(key: string, workspace: port.WorkspaceMount): Connection {
    this.#assertOpen();
    // Another request may have opened the connection while this request waited.
    const existing = this.#usable(key);
    if (existing) return existing;
    const connection = new Connection(this.#deps, workspace);
    this.#connections.set(key, connection);
    const forget = () => {
      if (this.#connections.get(key) === connection) this.#connections.delete(key);
    };
    connection.ended.then(forget, forget);
    return connection;
  }

  #usable(key: string): Connection | undefined {
    const connection = this.#connections.get(key);
    if (!connection?.usable) return undefined;
    // The caller sends a request next. Until then no other idle tool host may end this tool host.
    this.#deps.idle.take(connection);
    return connection;
  }

  #assertOpen(): void {
    if (!this.#closing.signal.aborted) return;
    throw new port.SandboxError('ESANDBOXCLOSED', 'The sandbox was closed.', {
      retryable: true,
      next: 'Open a new one.',
    });
  }
}
