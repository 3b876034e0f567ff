import { openPullStore, openPullWaker, type PullStore, roundsOf } from '@holdpoint/engine';
import type { Redis } from 'ioredis';

/** The pull requests of runs, as the API reads them and has them looked at. Workers look. */
export interface Pulls {
  store: PullStore;
  roundsOf: typeof roundsOf;
  /** @param why `hook`: a webhook of the code host asks for the look */
  hasten(runId: string, why: 'hook' | 'asked'): Promise<void>;
  close(): Promise<void>;
}

/** The queue opens with the first request. */
export function openPulls(deps: { redis: Redis; now: () => number }): Pulls {
  const store = openPullStore(deps.redis);
  let waker: ReturnType<typeof openPullWaker> | undefined;
  return {
    ...{ store, roundsOf },
    async hasten(runId, why) {
      const at = await store.hasten(runId, deps.now(), why);
      if (at === undefined) return;
      waker ??= openPullWaker(deps);
      // The record says that the look is due: without the wake-up the sweep of the workers finds it.
      await waker.wake(runId, at).catch(() => undefined);
    },
    close: async () => waker?.close(),
  };
}
