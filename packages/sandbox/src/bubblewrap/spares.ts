import type { SpareCounts } from '../port.ts';
import type { Driver, Tree, TreeRequest } from '../tree.ts';
import type { ExecChain } from './exec-chain.ts';
import { identityOf } from './mount-view.ts';
import type { SandboxProcess } from './sandbox-process.ts';

/** A sandbox waiting for a command. */
export interface SetUp {
  sandbox: SandboxProcess;
  tree: Tree;
}

export interface SparesOptions {
  /** Spares of this worker at once, and as many for read-only commands. Each spare has three processes and takes about 4 MB. */
  most: number;
  /** A spare ends after this many milliseconds without a command. */
  idleMs: number;
}

/** A command waits no longer than this for a spare's set-up: another process may have stopped the set-up. A set-up takes about 10 ms. */
const hungMs = 1000;

/** The spares open to a request: spares of its workspace, and behind the wall only spares with the same programs. */
type Kind = Parameters<NonNullable<Driver['prepared']>>[0];

interface Spare extends SetUp {
  workspaceId: string;
  /** Whether the spare is for a read-only command. */
  isWalled: boolean;
  /** Every input of the set-up. */
  binding: string;
  idle: NodeJS.Timeout;
  /** Resolves when the spare does not run any more. */
  ended: Promise<void>;
}

/**
 * Sandboxes waiting for the next command of a workspace: a single spare for each workspace, and another for each set of programs behind
 * the wall. A spare fits a command whose own sandbox would be set up in exactly the same way, and is used once.
 */
export class Spares {
  readonly #options: SparesOptions;
  /** By `keyOf`. The oldest spare comes first. */
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

  /** Resolves when no spare for the command is in its set-up. A hanging spare is dropped. */
  async settled(kind: Kind): Promise<void> {
    const key = keyOf(kind);
    const spare = this.#spares.get(key);
    if (!spare || spare.sandbox.isSpare) return;
    spare.sandbox.keepAlive(true);
    const hung = setTimeout(() => {
      if (this.#spares.get(key) === spare) this.#end(key, spare);
    }, hungMs);
    await spare.sandbox.settled;
    clearTimeout(hung);
    if (this.#spares.get(key) === spare) spare.sandbox.keepAlive(false);
  }

  /**
   * Null when no spare fits. A spare with another binding is dropped, because the next command would not fit either.
   * @param binding the command's binding (`bindingOf`)
   */
  take(request: TreeRequest, binding: string | null): SetUp | null {
    const key = keyOf(request);
    const spare = this.#spares.get(key);
    if (!spare || request.hostFiles !== null) return null;
    if (spare.binding !== binding || !spare.sandbox.isIntact()) {
      this.#end(key, spare);
      return null;
    }
    this.#forget(key, spare);
    this.#used++;
    spare.sandbox.keepAlive(true);
    return spare;
  }

  /** From now on the spare for the command has its whole time to wait. False when there is no spare. */
  keep(kind: Kind): boolean {
    const spare = this.#spares.get(keyOf(kind));
    spare?.idle.refresh();
    return spare !== undefined;
  }

  /**
   * Prepares a spare like this request.
   * @param binding the binding before the set-up. When a file is replaced in between, the spare fits no command
   * @param setUp starts a sandbox without a label
   */
  prepare(request: TreeRequest, binding: string, setUp: () => SetUp): void {
    const key = keyOf(request);
    const isWalled = request.only !== undefined;
    const former = this.#spares.get(key);
    if (this.#isClosed || this.#options.most === 0 || former?.binding === binding) return;
    if (former) this.#end(key, former);
    const alike = [...this.#spares].filter(([, one]) => one.isWalled === isWalled);
    for (const [oldest, one] of alike.slice(0, Math.max(alike.length + 1 - this.#options.most, 0))) {
      this.#end(oldest, one);
    }
    const made = setUp();
    const idle = setTimeout(() => this.#end(key, spare), this.#options.idleMs).unref();
    // Killed by another worker, or lost with the starter: the next command starts cold.
    const ended = made.tree.ended.then(
      () => {},
      () => {},
    );
    const spare: Spare = { ...made, workspaceId: request.workspace.id, isWalled, binding, idle, ended };
    this.#spares.set(key, spare);
    made.sandbox.keepAlive(false);
    // Nothing prints before there is a command, but a stream ends only while being read.
    for (const stream of [made.tree.stdout, made.tree.stderr]) stream.on('error', () => {}).resume();
    this.#ending.add(ended);
    void ended.then(() => {
      this.#ending.delete(ended);
      if (this.#spares.get(key) === spare) {
        this.#forget(key, spare);
        this.#dropped++;
      }
    });
  }

  /** Resolves when no spare of the workspace runs any more. */
  async drop(workspaceId: string): Promise<void> {
    const own = [...this.#spares].filter(([, spare]) => spare.workspaceId === workspaceId);
    for (const [key, spare] of own) this.#end(key, spare);
    await Promise.all(own.map(([, { ended }]) => ended));
  }

  /** Ends all spares. Resolves when none runs. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const [key, spare] of [...this.#spares]) this.#end(key, spare);
    await Promise.all(this.#ending);
  }

  #end(key: string, spare: Spare): void {
    this.#forget(key, spare);
    this.#dropped++;
    spare.sandbox.keepAlive(true);
    spare.sandbox.kill();
  }

  #forget(key: string, spare: Spare): void {
    clearTimeout(spare.idle);
    this.#spares.delete(key);
  }
}

const keyOf = ({ workspace: { id }, only }: Kind): string => JSON.stringify([id, only?.toSorted()]);

/** A command with input, certificates of its proxy or a larger /tmp has a set-up of its own, so no spare can fit. */
function mayHaveSpare({ hostFiles, stdin, keepsInput = false, tmpBytes, egress }: TreeRequest): boolean {
  const isPlain = hostFiles === null && stdin === null && !keepsInput && tmpBytes === undefined;
  return isPlain && egress?.certificates === undefined;
}

/**
 * Every input of a set-up: the programs and their options (with all mounts), the limits of the control group, and the identities of the
 * mounted files. A spare still shows the old file of a path replaced since. Null when a file is gone.
 */
export function bindingOf(request: TreeRequest, chain: ExecChain): string | null {
  if (!mayHaveSpare(request)) return null;
  const { memory_bytes, processes, cpu_percent } = request.limits;
  const files = chain.mounted.map(identityOf);
  if (files.includes(null)) return null;
  const judged = request.workspace.sourceFolders?.map(({ identity }) => identity);
  return JSON.stringify([chain.setUp, chain.options, files, judged, memory_bytes, processes, cpu_percent]);
}
