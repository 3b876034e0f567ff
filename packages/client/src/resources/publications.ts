import {
  type DryRun,
  type Publication,
  type Publish,
  type PublishPreview,
  publicationSchema,
  publishPreviewSchema,
  type Validation,
  validationSchema,
} from '@holdpoint/contract/wire';
import type { Transport } from '../request.ts';
import { at, type Options } from './request-parts.ts';

export const publicationRequests = ({ ask }: Transport) => ({
  /** The result of a publish at this moment, with every conflict. Changes nothing. */
  async previewPublish(runId: string, body: DryRun = {}, { signal }: Options = {}): Promise<PublishPreview> {
    const request = { method: 'POST', path: at('runs', runId, '/publish/dry-run'), body, signal } as const;
    return (await ask(request, publishPreviewSchema)).body;
  },

  /** The validator results of the last publish. @throws ApiError `not_validated` */
  getValidation: async (runId: string, { signal }: Options = {}): Promise<Validation> =>
    (await ask({ path: at('runs', runId, '/validation'), signal }, validationSchema)).body,

  /**
   * Waits for the outcome, at most 30 s; afterwards the status is `requested`. `parked`: the publish waits for the decision on `approval_id`.
   * @throws ApiError `publish_conflict` with `conflicts` and, when a decision can settle them, `approvalId`; `validator_failed`,
   * `publish_rejected`, `publish_expired`, `publish_failed`
   */
  publish: async (runId: string, body: Publish = {}, { signal }: Options = {}): Promise<Publication> =>
    (await ask({ method: 'POST', path: at('runs', runId, '/publish'), body, signal }, publicationSchema)).body,

  /** Removes the workspace of an ended run. */
  discard: async (runId: string, { signal }: Options = {}): Promise<Publication> =>
    (await ask({ method: 'POST', path: at('runs', runId, '/discard'), signal }, publicationSchema)).body,
});
