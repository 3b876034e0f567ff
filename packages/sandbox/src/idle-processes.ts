/** A Node process for requests: a tool host, or a program of Holdpoint. */
export interface IdleProcess {
  /** Ends the process. The caller starts another process for the next request. */
  endIdle(): void;
}

/**
 * Bounds the number of idle processes. Each holds 33 MB, and every run with a file tool call in the last minute has a tool host. The
 * process with the longest wait ends first.
 */
export class IdleProcesses {
  readonly #most: number;
  /** The process with the longest wait comes first. */
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
