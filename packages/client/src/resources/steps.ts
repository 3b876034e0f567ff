import {
  type Attempt,
  attemptListSchema,
  type Page,
  type Step,
  type StepDetail,
  stepDetailSchema,
  stepPageSchema,
} from '@holdpoint/contract/wire';
import type { Transport } from '../request.ts';
import { at, type Options, type PageQuery } from './request-parts.ts';

export const stepRequests = ({ ask }: Transport) => ({
  /** In the order they were planned. */
  listSteps: async (runId: string, query: PageQuery = {}, { signal }: Options = {}): Promise<Page<Step>> =>
    (await ask({ path: at('runs', runId, '/steps'), query: { ...query }, signal }, stepPageSchema)).body,

  getStep: async (id: string, { signal }: Options = {}): Promise<StepDetail> =>
    (await ask({ path: at('steps', id), signal }, stepDetailSchema)).body,

  listAttempts: async (stepId: string, { signal }: Options = {}): Promise<Attempt[]> =>
    (await ask({ path: at('steps', stepId, '/attempts'), signal }, attemptListSchema)).body.data,
});
