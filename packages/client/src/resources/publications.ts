import * as wire from '@holdpoint/contract/wire';
import type { Transport } from '../request.ts';
import { at, type Options } from './request-parts.ts';

export const publicationRequests = ({ ask }: Transport) => ({
  /** The result of a publish at this moment, with every conflict. Changes nothing. */
  async previewPublish(runId: string, body: wire.DryRun = {}, { signal }: Options = {}): Promise<wire.PublishPreview> {
    const request = { method: 'POST', path: at('runs', runId, '/publish/dry-run'), body, signal } as const;
    return (await ask(request, wire.publishPreviewSchema)).body;
  },

  /** The validator results of the last publish. @throws ApiError `not_validated` */
  getValidation: async (runId: string, { signal }: Options = {}): Promise<wire.Validation> =>
    (await ask({ path: at('runs', runId, '/validation'), signal }, wire.validationSchema)).body,

  /**
   * Waits for the outcome, at most 30 s; afterwards the status is `requested`. `parked`: the publish waits for the decision on `approval_id`.
   * @throws ApiError `publish_conflict` with `conflicts` and, when a decision can settle them, `approvalId`; `validator_failed`,
   * `publish_rejected`, `publish_expired`, `publish_failed`
   */
  publish: async (runId: string, body: wire.Publish = {}, { signal }: Options = {}): Promise<wire.Publication> =>
    (await ask({ method: 'POST', path: at('runs', runId, '/publish'), body, signal }, wire.publicationSchema)).body,

  /** The pull request of the last publish, as Holdpoint saw it last. @throws ApiError `pull_request_not_found` */
  getPullRequest: async (runId: string, { signal }: Options = {}): Promise<wire.FollowedPullRequest> =>
    (await ask({ path: at('runs', runId, '/pull-request'), signal }, wire.followedPullRequestSchema)).body,

  /** Has a worker look at the pull request now; the answer is how it was before. @throws ApiError `pull_request_not_found` */
  async lookAtPullRequest(runId: string, { signal }: Options = {}): Promise<wire.FollowedPullRequest> {
    const request = { method: 'POST', path: at('runs', runId, '/pull-request/look'), signal } as const;
    return (await ask(request, wire.followedPullRequestSchema)).body;
  },

  /** Removes the workspace of an ended run. */
  discard: async (runId: string, { signal }: Options = {}): Promise<wire.Publication> =>
    (await ask({ method: 'POST', path: at('runs', runId, '/discard'), signal }, wire.publicationSchema)).body,
});
