import type { Worker } from 'bullmq';

/** Why a worker takes no jobs: the disk of the data directory is nearly full, or Redis refuses its commands. */
export type HoldReason = 'space' | 'redis';

type Taker = Pick<Worker, 'pause' | 'resume'>;

/** Holds and releases the queues of this process. Running jobs continue while their queue is held. */
export class Intake {
  readonly #held = new Map<Taker, Set<HoldReason>>();

  hold(reason: HoldReason, workers: readonly Taker[]): void {
    for (const worker of workers) {
      const reasons = this.#held.get(worker) ?? new Set();
      this.#held.set(worker, reasons.add(reason));
      if (reasons.size === 1) void worker.pause(true);
    }
  }

  release(reason: HoldReason): void {
    for (const [worker, reasons] of this.#held) {
      if (!reasons.delete(reason) || reasons.size > 0) continue;
      this.#held.delete(worker);
      void worker.resume();
    }
  }

  /** Why some queue is held. */
  reasons(): Set<HoldReason> {
    return new Set([...this.#held.values()].flatMap((reasons) => [...reasons]));
  }

  holds(worker: Taker): boolean {
    return this.#held.has(worker);
  }
}
