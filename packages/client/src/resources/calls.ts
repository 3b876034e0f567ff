import * as wire from '@holdpoint/contract/wire';
import type { Transport } from '../request.ts';
import { at, type Options } from './request-parts.ts';

export const callRequests = ({ ask }: Transport) => ({
  /**
   * Sends an open run the calls of its next turn. `settled` of the answer is true when all of them are over.
   * @param options.waitS seconds to wait for `settled`, 60 at most
   * @throws ApiError `run_not_open`, `run_not_active`, `too_many_calls`, `idempotency_key_reused`
   */
  async sendCalls(
    runId: string,
    body: wire.SendCalls,
    {
      idempotencyKey,
      waitS,
      signal,
    }: Options & { idempotencyKey?: string | undefined; waitS?: number | undefined } = {},
  ): Promise<wire.ReceivedCalls> {
    const headers = { 'idempotency-key': idempotencyKey };
    const path = at('runs', runId, '/calls');
    const request = { method: 'POST' as const, path, query: { wait_s: waitS }, body, headers, signal };
    return (await ask(request, wire.receivedCallsSchema)).body;
  },

  /** Calls received by an open run, by their number. @throws ApiError `calls_not_found` */
  getCalls: async (
    runId: string,
    number: number,
    { waitS, signal }: Options & { waitS?: number | undefined } = {},
  ): Promise<wire.ReceivedCalls> =>
    (
      await ask(
        { path: at('runs', runId, `/calls/${number}`), query: { wait_s: waitS }, signal },
        wire.receivedCallsSchema,
      )
    ).body,

  /** Ends an open run: no more calls come. @throws ApiError `run_not_open`, `run_not_active`, `calls_pending` */
  finishRun: async (id: string, body: wire.FinishRun = {}, { signal }: Options = {}): Promise<wire.Run> =>
    (await ask({ method: 'POST', path: at('runs', id, '/finish'), body, signal }, wire.runSchema)).body,
});
