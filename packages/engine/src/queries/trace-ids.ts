import type { Redis } from 'ioredis';
import { runField } from '../domain/index.ts';
import { stateKey } from '../log/keys.ts';
import { traceIdOf } from '../spans/index.ts';

const mostRuns = 10_000;

/** The traces of runs, for log lines. A trace id is computed from the run's id, unless the run is in the trace of its caller. */
export class TraceIds {
  readonly #known = new Map<string, string>();

  of(runId: string): string {
    return this.#known.get(runId) ?? traceIdOf(runId);
  }

  /**
   * Looks once whether a run is in the trace of its caller. The command is sent with the commands of the following work, so the answer
   * arrives before this work logs anything.
   */
  learn(redis: Redis, runId: string): void {
    if (this.#known.has(runId)) return;
    this.#keep(runId, traceIdOf(runId));
    redis.hget(stateKey(runId), runField.traceparent.name).then(
      (traceparent) => {
        if (traceparent !== null) this.#keep(runId, traceIdOf(runId, traceparent));
      },
      () => this.#known.delete(runId),
    );
  }

  #keep(runId: string, traceId: string): void {
    this.#known.set(runId, traceId);
    if (this.#known.size > mostRuns) this.#known.delete([...this.#known.keys()][0] ?? '');
  }
}
