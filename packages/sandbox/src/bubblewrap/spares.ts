import type { SpareCounts } from '../port.ts';
import type { Tree, TreeRequest } from '../tree.ts';
import type { ExecChain } from './exec-chain.ts';
import { identityOf } from './identity-of.ts';
import type { SandboxProcess } from './sandbox-process.ts';

/** A sandbox that waits for a command. */
export interface SetUp {
  sandbox: SandboxProcess;
  tree: Tree;
}

export interface SparesOptions {
  /** Spares of this worker at once. Each has three processes, which take about 4 MB together. */
  most: number;
  /** A spare ends after this many milliseconds without a command. */
  idleMs: number;
}

/** A command waits no longer than this for a set-up that has begun: another process may have stopped it. A set-up takes about 10 ms. */
const hungMs = 1000;

interface Spare extends SetUp {
  workspaceId: string;
  /** Everything that the set-up depends on. */
  binding: string;
  idle: NodeJS.Timeout;
  /** Resolves when it does not run any more. */
  ended: Promise<void>;
}

/**
 * Sandboxes that wait for the next command of a workspace: at most one each. A spare fits a command whose own sandbox would be set up in
 * exactly the same way, and it is used once.
 */
export class Spares {
  readonly #options: SparesOptions;
  /** By workspace. The one that was made first comes first. */
  readonly #spares = new Map<string, Spare>();
  readonly #ending = new Set<Promise<unknown>>();
  #used = 0;
  #dropped = 0;
  #isClosed = false;

  constructor(options: SparesOptions) {
    this.#options = options;
  }

  get counts(): SpareCounts {
    return { waiting: this.#spares.size, used: this.#used, dropped: this.#dropped };
  }

  /** Resolves when no spare of the workspace is in its set-up. One that hangs is dropped. */
  async settled(workspaceId: string): Promise<void> {
    const spare = this.#spares.get(workspaceId);
    if (!spare || spare.sandbox.isSpare) return;
    spare.sandbox.keepAlive(true);
    const hung = setTimeout(() => {
      if (this.#spares.get(workspaceId) === spare) this.#end(spare);
    }, hungMs);
    await spare.sandbox.settled;
    clearTimeout(hung);
    if (this.#spares.get(workspaceId) === spare) spare.sandbox.keepAlive(false);
  }

  /**
   * Null when the workspace has none that fits. One that does not fit is dropped, because the next would not fit it either.
   * @param binding that of the command (`bindingOf`)
   */
  take(request: TreeRequest, binding: string | null): SetUp | null {
    const { id } = request.workspace;
    const spare = this.#spares.get(id);
    if (!spare || request.hostFiles !== null) return null;
    if (spare.binding !== binding || !spare.sandbox.isIntact()) {
      this.#end(spare);
      return null;
    }
    this.#forget(spare);
    this.#used++;
    spare.sandbox.keepAlive(true);
    return spare;
  }

  /** From now on the spare of the workspace has its whole time to wait. False when there is none. */
  keep(workspaceId: string): boolean {
    const spare = this.#spares.get(workspaceId);
    spare?.idle.refresh();
    return spare !== undefined;
  }

  /**
   * Prepares a spare like this request.
   * @param binding as it was before the set-up. When a file is replaced in between, the spare fits no command
   * @param setUp starts a sandbox without a label
   */
  prepare(request: TreeRequest, binding: string, setUp: () => SetUp): void {
    const { id } = request.workspace;
    if (this.#isClosed || this.#options.most === 0 || this.#spares.get(id)?.binding === binding) return;
    void this.drop(id);
    for (const oldest of [...this.#spares.keys()].slice(0, Math.max(this.#spares.size + 1 - this.#options.most, 0))) {
      void this.drop(oldest);
    }
    const made = setUp();
    const idle = setTimeout(() => this.#end(spare), this.#options.idleMs).unref();
    // Killed by another worker, or lost with the starter: the next command starts cold.
    const ended = made.tree.ended.then(
      () => {},
      () => {},
    );
    const spare: Spare = { ...made, workspaceId: id, binding, idle, ended };
    this.#spares.set(id, spare);
    made.sandbox.keepAlive(false);
    // Nothing prints before there is a command, but only a stream that is read ends.
    for (const stream of [made.tree.stdout, made.tree.stderr]) stream.on('error', () => {}).resume();
    this.#ending.add(ended);
    void ended.then(() => {
      this.#ending.delete(ended);
      if (this.#spares.get(id) === spare) {
        this.#forget(spare);
        this.#dropped++;
      }
    });
  }

  /** Resolves when the spare does not run any more. */
  async drop(workspaceId: string): Promise<void> {
    const spare = this.#spares.get(workspaceId);
    if (!spare) return;
    this.#end(spare);
    await spare.ended;
  }

  /** Ends all spares. Resolves when none runs. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const spare of [...this.#spares.values()]) this.#end(spare);
    await Promise.all(this.#ending);
  }

  #end(spare: Spare): void {
    this.#forget(spare);
    this.#dropped++;
    spare.sandbox.keepAlive(true);
    spare.sandbox.kill();
  }

  #forget(spare: Spare): void {
    clearTimeout(spare.idle);
    this.#spares.delete(spare.workspaceId);
  }
}

/** What one command alone has is part of its set-up: its input, certificates of its proxy, a larger /tmp. */
function mayHaveSpare({ only, hostFiles, stdin, tmpBytes, egress }: TreeRequest): boolean {
  return (
    only === undefined &&
    hostFiles === null &&
    stdin === null &&
    tmpBytes === undefined &&
    egress?.certificates === undefined
  );
}

/**
 * Everything that a set-up depends on: the programs and their options, which name all mounts, the limits of the control group, and which
 * files the mounted paths mean. A path that was replaced since would be the old file inside. Null when one is gone.
 */
export function bindingOf(request: TreeRequest, chain: ExecChain): string | null {
  if (!mayHaveSpare(request)) return null;
  const { memory_bytes, processes, cpu_percent } = request.limits;
  const files = chain.mounted.map(identityOf);
  if (files.includes(null)) return null;
  const judged = request.workspace.sourceFolders?.map(({ identity }) => identity);
  return JSON.stringify([chain.setUp, chain.options, files, judged, memory_bytes, processes, cpu_percent]);
}
