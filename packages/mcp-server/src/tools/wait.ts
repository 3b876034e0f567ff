import { setTimeout as delay } from 'node:timers/promises';
import { ApiError, type Client, type RunDetail } from '@holdpoint/client';
import { isTerminal } from '@holdpoint/contract';
import { z } from 'zod';
import { defineTool, type ToolDeps, type Waiting } from '../define-tool.ts';
import { runViewSchema, stateOf } from '../views.ts';
import { answerOfRun, runId } from './runs.ts';

/** Clients end a call after 60 seconds (the default of the SDK of TypeScript), so the answer comes before. */
const mostSeconds = 50;
/** A client that hears of progress resets its clock. */
const progressMs = 10_000;
/** A run has many events a second. One look in this time is enough. */
const lookMs = 1000;

export const waitForRun = defineTool({
  name: 'wait_for_run',
  title: 'Wait for a run',
  description: `Waits until the run ends, pauses, or asks a person for something new, at most ${mostSeconds} seconds, and answers as get_run does. When nothing happened the status is the same: call it again, or do other work. Pass state of the last answer as seen_state, so that no change between two calls is missed.`,
  input: z.strictObject({
    run_id: runId,
    timeout_s: z.int().min(1).max(mostSeconds).default(45),
    seen_state: z
      .string()
      .max(200)
      .optional()
      .describe('state of the last answer about this run. Default: its state now'),
  }),
  output: runViewSchema.extend({
    changed: z
      .boolean()
      .optional()
      .describe('false: the time ran out, and nothing happened. Absent in the result of a task'),
  }),
  kind: 'read',
  idempotent: true,
  async run(deps, { run_id, timeout_s, seen_state }, waiting) {
    const changed = await waitForChange(deps, { runId: run_id, ms: timeout_s * 1000, seen: seen_state }, waiting);
    const answer = await answerOfRun(deps, run_id, waiting.signal);
    const said = changed ? [] : ['Nothing happened in this time.'];
    return { text: [...said, answer.text].join('\n'), value: { ...answer.value, changed } };
  },
  // The client looks at the task when it likes, so nothing waits here.
  runToFollow: async (_deps, { run_id }) => run_id,
});

interface Wanted {
  runId: string;
  ms: number;
  seen?: string | undefined;
}

/** @returns whether the run has ended or is in another state than the seen one */
async function waitForChange(
  { client, now }: Pick<ToolDeps, 'client' | 'now'>,
  { runId: id, ms, seen }: Wanted,
  { signal, progress }: Waiting,
): Promise<boolean> {
  const begun = now();
  let run = await client.getRun(id, { signal });
  const before = seen ?? stateOf(run);
  let told = begun;
  for (;;) {
    if (isTerminal(run.status) || stateOf(run) !== before) return true;
    const left = begun + ms - now();
    if (left <= 0) return false;
    const until = Math.min(left, told + progressMs - now());
    await nextEvent(client, run, { ms: Math.max(1, Math.ceil(until)), signal });
    if (now() - told >= progressMs) {
      told = now();
      await progress(Math.min(1, (now() - begun) / ms), `${run.status}, turn ${run.turn}, ${run.usage.steps} steps`);
    }
    run = await client.getRun(id, { signal });
  }
}

/** Returns at the next event of the run, `lookMs` after the call at the soonest, or when the time is over. */
async function nextEvent(
  client: Client,
  run: RunDetail,
  { ms, signal }: { ms: number; signal: AbortSignal },
): Promise<void> {
  const over = AbortSignal.any([signal, AbortSignal.timeout(ms)]);
  const soonest = delay(Math.min(lookMs, ms), undefined, { signal });
  // Awaited below: an abort before that is no unhandled rejection.
  soonest.catch(() => undefined);
  try {
    for await (const _ of client.events(run.id, { after: run.seq, signal: over })) break;
  } catch (error) {
    signal.throwIfAborted();
    // No stream was free: the time serves instead.
    const isBusy = error instanceof ApiError && error.retryable;
    if (!over.aborted && !isBusy) throw error;
  }
  await soonest;
}
