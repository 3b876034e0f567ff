import { z } from 'zod';
import { McpError } from './errors.ts';

const second = 1000;
/** Bounds of a task of a server, in milliseconds. */
const longest = { wait: 60 * second, task: 24 * 3600 * second };

const taskSchema = z.looseObject({
  taskId: z
    .string()
    .min(1)
    .max(256)
    // A name for logs and headers.
    .regex(/^\P{C}+$/u, 'it has control characters'),
  ttlMs: z.number().min(0).nullish(),
  pollIntervalMs: z.number().min(0).nullish(),
});

/** What a call keeps of its task between two attempts. Times are milliseconds since the epoch. */
const keptSchema = z.strictObject({
  taskId: z.string(),
  began: z.number(),
  end: z.number(),
  /** The last round of questions whose answers the server has, and the keys of all answers that it has. */
  answered: z.strictObject({ round: z.int(), keys: z.array(z.string()) }).optional(),
});
export type KeptTask = z.output<typeof keptSchema>;

export const readKept = (text: string): KeptTask => keptSchema.parse(JSON.parse(text));

/** The task with which a server answered a call. @throws McpError */
export function readBegun(answer: unknown, now: number): { kept: KeptTask; waitMs: number } {
  const read = taskSchema.safeParse(answer);
  if (!read.success) {
    const issue = read.error.issues[0];
    const why = `${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}`.slice(0, 300);
    throw new McpError(
      'EMCPSERVER',
      `The server answered with a task that cannot be used (${why}).`,
      'It is not known whether the call takes effect: find out before you make it again.',
    );
  }
  const { taskId, ttlMs, pollIntervalMs } = read.data;
  const kept = { taskId, began: now, end: now + Math.min(Math.max(ttlMs ?? longest.task, second), longest.task) };
  return { kept, waitMs: waitOf(kept, pollIntervalMs, now) };
}

/** The task once the server has the answers of a round. The wait for the result begins again: a person may have taken days. */
export function withAnswers(kept: KeptTask, round: number, keys: readonly string[], now: number): KeptTask {
  const all = new Set([...(kept.answered?.keys ?? []), ...keys]);
  return { ...kept, answered: { round, keys: [...all] }, began: now, end: now + (kept.end - kept.began) };
}

/** How long to wait before the server is asked again: its own interval, and a tenth of the time so far. */
export function waitOf({ began, end }: KeptTask, intervalMs: number | null | undefined, now: number): number {
  const wanted = Math.max(intervalMs ?? 0, (now - began) / 10, second);
  return Math.ceil(Math.min(wanted, longest.wait, Math.max(end - now, second)));
}

/** A task as `tasks/get` shows it. */
export const detailsSchema = z.discriminatedUnion('status', [
  z.looseObject({ status: z.literal('working'), pollIntervalMs: z.number().min(0).nullish().catch(undefined) }),
  z.looseObject({
    status: z.literal('input_required'),
    inputRequests: z.record(z.string(), z.unknown()).catch({}),
    pollIntervalMs: z.number().min(0).nullish().catch(undefined),
  }),
  z.looseObject({ status: z.literal('completed'), result: z.unknown() }),
  z.looseObject({
    status: z.literal('failed'),
    error: z.looseObject({ message: z.string() }).optional().catch(undefined),
  }),
  z.looseObject({ status: z.literal('cancelled') }),
]);
