import type { Json } from '@holdpoint/contract';
import type { SendCalls } from '@holdpoint/contract/wire';
import type { createClient } from './client.ts';
import { ApiError } from './errors.ts';

interface BackendCall {
  toolset: string;
  tool: string;
  args: Json;
  concurrent?: boolean;
  signal?: AbortSignal | undefined;
}

type Client = Pick<ReturnType<typeof createClient>, 'sendCalls' | 'getCalls' | 'getStep' | 'cancelStep'>;

interface Waiting extends BackendCall {
  settle: PromiseWithResolvers<Json>;
}

/**
 * Makes the calls of a registry in an open run. Calls made together with `concurrent` share a turn and run side by side; all others run in
 * sequence, in the order of the calls. The promise of a held call settles after the decision of a person.
 *
 * An abort before the send drops the call. An abort of a running call cancels its step and so ends its tool: the other calls continue.
 *
 * @param run an open run of `client.createRun({ open: true, toolset, … })`
 */
export function openRunBackend(client: Client, run: { id: string; toolset: string }) {
  const waiting: Waiting[] = [];
  let isSending = false;

  const send = async (): Promise<void> => {
    if (isSending) return;
    isSending = true;
    // Calls of the same moment belong together.
    await Promise.resolve();
    for (let turn = nextTurn(waiting); turn.length > 0; turn = nextTurn(waiting)) await makeTurn(client, run.id, turn);
    isSending = false;
  };

  return {
    /** @throws ApiError; and the reason of an aborted `signal` */
    async call(call: BackendCall): Promise<Json> {
      if (call.toolset !== run.toolset) {
        throw new Error(`The run ${run.id} has the toolset ${run.toolset}, not ${call.toolset}. Open another run.`);
      }
      call.signal?.throwIfAborted();
      const entry: Waiting = { ...call, settle: Promise.withResolvers<Json>() };
      const abort = (): void => {
        const at = waiting.indexOf(entry);
        if (at >= 0) waiting.splice(at, 1);
        entry.settle.reject(call.signal?.reason);
      };
      call.signal?.addEventListener('abort', abort, { once: true });
      waiting.push(entry);
      void send();
      return entry.settle.promise.finally(() => call.signal?.removeEventListener('abort', abort));
    },
  };
}

/** The first call; a concurrent call takes the concurrent calls behind along. */
function nextTurn(waiting: Waiting[]): Waiting[] {
  const alone = waiting.findIndex(({ concurrent = false }) => !concurrent);
  return waiting.splice(0, alone === 0 ? 1 : Math.min(alone < 0 ? waiting.length : alone, mostTogether));
}

const mostTogether = 50;

async function makeTurn(client: Client, runId: string, turn: readonly Waiting[]): Promise<void> {
  const calls = turn.map(({ tool, args }) => ({ tool, args }));
  // A request whose answer is lost is sent again, and makes no second call.
  const sent = [runId, { calls, concurrent: turn.length > 1 }, crypto.randomUUID()] as const;
  const over = new AbortController();
  try {
    for (const [index, { signal }] of turn.entries()) {
      const cancel = (): void => void cancelCall(client, sent, index, over.signal);
      if (signal?.aborted) cancel();
      else signal?.addEventListener('abort', cancel, { once: true, signal: over.signal });
    }
    let received = await post(client, sent, waitS);
    while (!received.settled) received = await client.getCalls(runId, received.number, { waitS });
    for (const [index, { settle }] of turn.entries()) {
      const step = received.steps[index];
      const whole = step?.left_out ? await client.getStep(step.id) : step;
      settle.resolve(whole?.result ?? null);
    }
  } catch (error) {
    for (const { settle } of turn) settle.reject(error);
  } finally {
    over.abort();
  }
}

type Sent = readonly [runId: string, body: SendCalls, idempotencyKey: string];

const post = (client: Client, [runId, body, idempotencyKey]: Sent, waitS: number) =>
  client.sendCalls(runId, body, { idempotencyKey, waitS });

/** The same request again says which step the call is. Tries until the turn is over: the calls may wait behind others, and an answer may be lost. */
async function cancelCall(client: Client, sent: Sent, index: number, over: AbortSignal): Promise<void> {
  for (; !over.aborted; await pause(againMs)) {
    try {
      const step = (await post(client, sent, 0)).steps[index];
      if (step !== undefined) await client.cancelStep(step.id);
      return;
    } catch (error) {
      if (error instanceof ApiError && error.code === 'step_settled') return;
    }
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const againMs = 200;

/** Seconds; a call may wait for a person for longer. */
const waitS = 60;
