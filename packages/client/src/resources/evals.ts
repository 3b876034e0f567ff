import type { MarkRun } from '@holdpoint/contract';
import * as wire from '@holdpoint/contract/wire';
import type { Transport } from '../request.ts';
import { at, entriesOf, type ListOptions, type Options } from './request-parts.ts';

export const evalRequests = ({ ask }: Transport) => ({
  /** Replaces the mark of a run that has ended. @throws ApiError `run_not_finished` */
  markRun: async (id: string, body: MarkRun, { signal }: Options = {}): Promise<wire.Run> =>
    (await ask({ method: 'PUT', path: at('runs', id, '/mark'), body, signal }, wire.runSchema)).body,

  /** Begins an evaluation under an id of the caller, so it is safe to send again. `created` is false when it was begun before. */
  async putEval(
    id: string,
    body: wire.PutEval,
    { signal }: Options = {},
  ): Promise<{ evaluation: wire.Eval; created: boolean }> {
    const answer = await ask({ method: 'PUT', path: at('evals', id), body, signal }, wire.evalSchema);
    return { evaluation: answer.body, created: answer.status === 201 };
  },

  getEval: async (id: string, { signal }: Options = {}): Promise<wire.Eval> =>
    (await ask({ path: at('evals', id), signal }, wire.evalSchema)).body,

  /** The newest first. */
  async listEvals({ limit, ...options }: ListOptions & { limit?: number | undefined } = {}): Promise<wire.Eval[]> {
    const { signal } = options;
    return entriesOf((await ask({ path: '/v1/evals', query: { limit }, signal }, wire.evalListSchema)).body, options);
  },

  /** Its repeats are canceled, and the others are skipped. */
  cancelEval: async (id: string, { signal }: Options = {}): Promise<wire.Eval> =>
    (await ask({ method: 'POST', path: at('evals', id, '/cancel'), signal }, wire.evalSchema)).body,
});
