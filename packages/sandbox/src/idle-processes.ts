/** A process of Node that answers requests: a tool host, or a program of Holdpoint. */
export interface IdleProcess {
  /** Ends it. Its caller starts another one for the next request. */
  endIdle(): void;
}

/**
 * Bounds the processes that wait for a request. Each holds 33 MB, and every run that called a file tool in the last minute has one. The process
 * that has waited longest ends first.
 */
export class IdleProcesses {
  readonly #most: number;
  /** The process that has waited longest comes first. */
  readonly #waiting = new Set<IdleProcess>();

  constructor(most: number) {
    this.#most = most;
  }

  /** The process has answered its last request. */
  add(process: IdleProcess): void {
    this.#waiting.delete(process);
    this.#waiting.add(process);
    for (const oldest of [...this.#waiting].slice(0, Math.max(this.#waiting.size - this.#most, 0))) {
      this.#waiting.delete(oldest);
      oldest.endIdle();
    }
  }

  /** The process is about to get a request, or has ended. */
  take(process: IdleProcess): void {
    this.#waiting.delete(process);
  }
}
