import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { z } from 'zod';

export interface TurndownLimits {
  /** Milliseconds until the thread is ended, its start included. */
  deadline_ms: number;
  /** MB of its heap, at least 4: where there is no room to start a thread, V8 ends the whole process. */
  heap_mb: number;
  /** Characters of Markdown that come back at most. */
  max_chars: number;
}

export type Turndown =
  | { ok: true; markdown: string; complete: boolean }
  /** `reason` completes a sentence: "it took longer than 5 s". */
  | { ok: false; reason: string };

/**
 * Turns HTML into Markdown in a thread of its own, which has ended when this returns. Turndown recurses and takes quadratic time on some
 * pages; here neither harms more than the page.
 *
 * @throws the reason of `signal` when it is aborted
 */
export async function runTurndown(html: string, limits: TurndownLimits, signal?: AbortSignal): Promise<Turndown> {
  signal?.throwIfAborted();
  const deadline = AbortSignal.timeout(limits.deadline_ms);
  const worker = new Worker(new URL('./turndown-thread.ts', import.meta.url), {
    workerData: { html, max_chars: limits.max_chars },
    // Nothing of this process: it reads what strangers wrote.
    env: {},
    execArgv: [],
    resourceLimits: {
      maxOldGenerationSizeMb: limits.heap_mb,
      maxYoungGenerationSizeMb: YOUNG_MB,
      stackSizeMb: STACK_MB,
    },
  });
  // A thread may fail while it is being ended; without a listener that would end the process.
  worker.on('error', () => {});
  try {
    const [message] = await once(worker, 'message', {
      signal: signal ? AbortSignal.any([signal, deadline]) : deadline,
    });
    return { ok: true, ...answer.parse(message) };
  } catch (error) {
    signal?.throwIfAborted();
    return { ok: false, reason: deadline.aborted ? `it took longer than ${limits.deadline_ms / 1000} s` : why(error) };
  } finally {
    await worker.terminate();
  }
}

const answer = z.strictObject({ markdown: z.string(), complete: z.boolean() });
const YOUNG_MB = 32;
/** Pages are at most 128 deep, which takes a tenth of it. */
const STACK_MB = 4;

function why(error: unknown): string {
  if (!(error instanceof Error)) return 'it failed';
  const code = 'code' in error ? error.code : undefined;
  return code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'it took too much memory' : `it failed (${error.message})`;
}
