import { defaultPullRequestRounds, problemSchema, pullRequestTargetSchema } from '@holdpoint/contract';
import { z } from 'zod';

const time = z.iso.datetime({ offset: true });

/** A comment, a review, a command or a failed check that a run heard of. */
const itemSchema = z.object({ kind: z.enum(['comment', 'review', 'command', 'check']), id: z.string() });
export type Item = z.output<typeof itemSchema>;

const messageSchema = z.object({
  message_id: z.string(),
  text: z.string(),
  by: z.string(),
  /** The run has ended: the message wakes it, and takes a round. */
  wake: z.boolean(),
  items: z.array(itemSchema),
});
/** A message to the run, under an id that was chosen before the message is sent. */
export type Message = z.output<typeof messageSchema>;

const answerSchema = z.object({ to: itemSchema, nonce: z.string(), commit: z.string() });
/** An answer to a comment, under a number that was chosen before the answer is sent. */
export type Answer = z.output<typeof answerSchema>;

/** A pull request of a run, as stored. Not strict: a later version may store more. */
export const pullStateSchema = z.object({
  run_id: z.string(),
  target: pullRequestTargetSchema,
  /** Full name. */
  branch: z.string(),
  commit: z.string(),
  number: z.int(),
  url: z.string(),
  published_at: time,
  status: z.enum(['open', 'merged', 'closed']),
  /** Rounds that were used. */
  rounds: z.int(),
  sending: messageSchema.optional(),
  /** What the run heard of since the last publish. */
  heard: z.array(itemSchema),
  answers: z.array(answerSchema),
  /** Looks without news, in a row. */
  quiet: z.int(),
  /** Why nothing happens now, and what to do. */
  problem: problemSchema.optional(),
  looked_at: time.optional(),
});
export type PullState = z.output<typeof pullStateSchema>;

export const roundsOf = ({ target: { rounds = defaultPullRequestRounds } }: Pick<PullState, 'target'>): number =>
  rounds;

/** The problem of a comment that the code host takes no answer to. It stands until the next publish. */
export const unansweredCode = 'pull_request_unanswered';

/** Names an item in the set of items that were decided about. */
export const itemKey = ({ kind, id }: Item): string => `${kind}:${id}`;
