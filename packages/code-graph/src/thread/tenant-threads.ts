import { createHash } from 'node:crypto';
import { GraphThread } from './graph-thread.ts';

/** A thread may take 0.8 GB. */
const mostThreads = 4;
/** Threads of a tenant. A run stays with the same thread, so each store is open once. */
const threadsOfTenant = 2;

/** Threads by tenant: a question that ends a thread harms no other tenant, as long as there are threads enough. */
export class TenantThreads {
  readonly #threads = new Map<string, GraphThread>();

  of({ tenant, runId }: { tenant: string; runId: string }): GraphThread {
    const key = `${numberOf(runId) % threadsOfTenant} ${tenant}`;
    const known = this.#threads.get(key);
    if (known !== undefined) {
      // The most recently used thread is the last to go.
      this.#threads.delete(key);
      this.#threads.set(key, known);
      return known;
    }
    this.#makeRoom();
    const open = [...new Set(this.#threads.values())];
    const [leastBusy] = open.toSorted((a, b) => a.waiting - b.waiting);
    // All threads are busy: the tenant shares the thread with the shortest line.
    const thread = open.length < mostThreads || leastBusy === undefined ? new GraphThread() : leastBusy;
    this.#threads.set(key, thread);
    return thread;
  }

  async close(): Promise<void> {
    await Promise.all([...new Set(this.#threads.values())].map((thread) => thread.close()));
  }

  /** Ends the idle thread with the longest time since its last use. */
  #makeRoom(): void {
    if (new Set(this.#threads.values()).size < mostThreads) return;
    const idle = [...this.#threads.values()].find(({ waiting }) => waiting === 0);
    if (idle === undefined) return;
    for (const [key, thread] of this.#threads) if (thread === idle) this.#threads.delete(key);
    void idle.close();
  }
}

const numberOf = (runId: string): number => createHash('sha256').update(runId).digest()[0] ?? 0;
