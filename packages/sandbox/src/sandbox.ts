import type { CapabilityReport } from '@holdpoint/contract';
import type { SpaceGuard } from './disk-space/space-guard.ts';
import { SandboxError } from './errors.ts';
import { Connection, type ConnectionDeps } from './files/connection.ts';
import { toolHostFiles } from './files/tool-host-files.ts';
import type { Command, CommandResult, Limits, Sandbox, WorkspaceFiles, WorkspaceMount } from './port.ts';
import { frozen, wakeAbandoned } from './process/freeze.ts';
import type { Holds } from './process/holds.ts';
import { killAll } from './process/kill-all.ts';
import type { ProcessRecords } from './process/records.ts';
import { runCommand } from './run-command.ts';
import type { WorkspaceSizes } from './workspace-size/sizes.ts';

export interface HostSandboxDeps extends ConnectionDeps {
  capabilities: CapabilityReport;
  records: ProcessRecords;
  holds: Holds;
  limits: Partial<Limits> | undefined;
  sizes: WorkspaceSizes;
  guard: SpaceGuard;
  /** Milliseconds of a clock that only goes forward. */
  now(): number;
}

/** How often a worker looks whether another one that died has left its commands frozen. */
const RESCUE_MS = 500;

/** A probed driver with what it has running. */
export class HostSandbox implements Sandbox {
  readonly #deps: HostSandboxDeps;
  readonly #closing = new AbortController();
  readonly #running = new Set<Promise<unknown>>();
  readonly #connections = new Map<string, Connection>();

  constructor(deps: HostSandboxDeps) {
    this.#deps = deps;
  }

  get capabilities(): CapabilityReport {
    return this.#deps.capabilities;
  }

  get ripgrep(): string {
    return this.#deps.driver.ripgrep;
  }

  async run(command: Command): Promise<CommandResult> {
    this.#assertOpen();
    const running = runCommand({ ...this.#deps, closing: this.#closing.signal }, command);
    this.#running.add(running);
    const rescue = command.label === undefined ? undefined : setInterval(() => this.#rescue(command), RESCUE_MS);
    try {
      return await running;
    } finally {
      clearInterval(rescue);
      this.#running.delete(running);
    }
  }

  files(workspace: WorkspaceMount): WorkspaceFiles {
    this.#assertOpen();
    return toolHostFiles(() => this.#connect(workspace));
  }

  async killAll(workspaceId: string): Promise<void> {
    await killAll(this.#deps, workspaceId);
  }

  async kill(workspaceId: string, label: string): Promise<void> {
    await killAll(this.#deps, workspaceId, label);
  }

  frozen<Result>(workspaceId: string, act: (frozen: number) => Promise<Result>): Promise<Result> {
    return frozen(this.#deps, workspaceId, act);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(new Error('the sandbox was closed'));
    await Promise.all([...this.#connections.values()].map((connection) => connection.close()));
    await Promise.allSettled(this.#running);
    await this.#deps.driver.release();
  }

  /** The worker that runs a command looks after it: when that worker dies, the command dies with it, and needs no waking. */
  #rescue({ workspace }: Command): void {
    // What cannot be woken now is tried again at the next look.
    wakeAbandoned(this.#deps, workspace.id).catch(() => {});
  }

  #connect(workspace: WorkspaceMount): Connection {
    this.#assertOpen();
    const key = JSON.stringify([workspace.id, workspace.path, workspace.uid, workspace.gid]);
    const existing = this.#connections.get(key);
    if (existing?.usable) return existing;
    const connection = new Connection(this.#deps, workspace);
    this.#connections.set(key, connection);
    const forget = () => {
      if (this.#connections.get(key) === connection) this.#connections.delete(key);
    };
    connection.ended.then(forget, forget);
    return connection;
  }

  #assertOpen(): void {
    if (!this.#closing.signal.aborted) return;
    throw new SandboxError('ESANDBOXCLOSED', 'The sandbox was closed.', { retryable: true, next: 'Open a new one.' });
  }
}
