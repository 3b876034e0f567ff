import { z } from 'zod';
import { pullRequestSchema } from '../pull-request.ts';
import { problemSchema } from '../vocabulary.ts';

const time = z.iso.datetime({ offset: true });

/** GET /v1/runs/{id}/pull-request: the pull request of the last publish, as Holdpoint saw it last. */
export const followedPullRequestSchema = z
  .strictObject({
    run_id: z.string(),
    pull_request: pullRequestSchema,
    status: z.enum(['open', 'merged', 'closed']),
    commit: z.string().describe('The commit of the last publish'),
    rounds: z
      .strictObject({ used: z.int(), most: z.int() })
      .describe('How often its checks and comments have woken the run, and how often they may'),
    heard: z.int().describe('Comments and failed checks that the run heard of since the last publish'),
    answers: z.int().describe('Answers to comments that are still to be sent'),
    problem: problemSchema.nullable().describe('Why nothing more happens by itself, and what to do'),
    looked_at: time.nullable(),
    next_look: time.nullable().describe('By the clock; a webhook of the code host comes before'),
    webhooks: z.boolean().describe('Whether webhooks of the code host have arrived'),
  })
  .meta({ id: 'FollowedPullRequest' });
export type FollowedPullRequest = z.infer<typeof followedPullRequestSchema>;

/** POST /v1/hooks/github. */
export const hookTakenSchema = z.strictObject({ taken: z.boolean().describe('false: it was taken before') });
