import { newsChannel, type RunState } from '@holdpoint/engine';
import type { FastifyReply } from 'fastify';
import type { ApiDeps } from '../deps.ts';
import { findRun } from '../routes/runs/find-run.ts';
import { clientGone } from './stream.ts';

interface Wait {
  runId: string;
  /** Asks for something that a worker does. News is heard from before it on. */
  ask: () => Promise<void>;
  /** A worker has not done it yet. */
  isPending: (run: RunState) => boolean;
}

/** Asks, and waits until a worker has done it, the time is over, or nobody waits any more. */
export async function awaitRun(
  deps: Pick<ApiDeps, 'engine' | 'news' | 'now' | 'closing' | 'publicationWaitMs'>,
  reply: FastifyReply,
  { runId, ask, isPending }: Wait,
): Promise<RunState> {
  const signal = AbortSignal.any([clientGone(reply), deps.closing]);
  const until = deps.now() + deps.publicationWaitMs;
  const ear = await deps.news.listen(newsChannel(runId));
  try {
    await ask();
    for (;;) {
      const run = await findRun(deps, runId);
      const timeoutMs = until - deps.now();
      if (!isPending(run) || timeoutMs <= 0 || signal.aborted) return run;
      await ear.next({ timeoutMs, signal });
    }
  } finally {
    ear.close();
  }
}
