import { z } from 'zod';
import type { TextWork } from '../text-work/text-work.ts';
import { type GraphAnswer, GraphError, type GraphPort, type GraphRequest } from './port.ts';

const answerSchema = z.object({ results: z.array(z.json()) });
const refusalSchema = z.object({ error: z.string() });

/**
 * A graph service outside of Holdpoint: `POST {query, params?, commit?}` answers 200 `{results: […]}`, or another status with `{error}`.
 * @param options.endpoint chosen by the operator, so a private address is allowed
 */
export const httpGraph = ({ endpoint }: { endpoint: string }): GraphPort => ({
  async query({ signal, text }, request) {
    const deadline = AbortSignal.timeout(request.timeout_ms);
    try {
      return await ask({ endpoint, text, signal: AbortSignal.any([signal, deadline]) }, request);
    } catch (error) {
      if (error instanceof GraphError || signal.aborted) throw error;
      if (deadline.aborted) {
        const message = `The graph did not answer within ${request.timeout_ms} ms.`;
        throw new GraphError('ETIMEOUT', message, 'Ask for less, or raise the time limit of the run.');
      }
      throw new GraphError('EGRAPH', `The graph cannot be reached: ${reasonOf(error)}.`, 'Try again later.', {
        cause: error,
      });
    }
  },
});

async function ask(
  { endpoint, text, signal }: { endpoint: string; text: TextWork; signal: AbortSignal },
  { query, params, commit, max_bytes }: GraphRequest,
): Promise<GraphAnswer> {
  const response = await fetch(endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify({ query, params, commit }),
    redirect: 'error',
    signal,
  });
  const answered = await textOf(response, max_bytes);
  const weighed = await text.run('weigh', { text: answered });
  if (!weighed.ok) throw new GraphError('EQUOTA', `The answer of the graph ${weighed.reason}.`, 'Ask for less.');
  const body = parse(answered);
  if (!response.ok) {
    const { data } = refusalSchema.safeParse(body);
    throw new GraphError('EGRAPH', data?.error ?? `The graph answered ${response.status}.`, 'Correct the query.');
  }
  const answer = answerSchema.safeParse(body);
  if (answer.success) return { results: answer.data.results };
  throw new GraphError('EGRAPH', 'The answer of the graph is no JSON with a list `results`.', 'Ask its operator.');
}

async function textOf({ body }: Response, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.length;
    if (bytes > maxBytes) {
      throw new GraphError('EQUOTA', `The answer of the graph has more than ${maxBytes} bytes.`, 'Ask for less.');
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The message of `fetch` reports only the failure; its cause says why. */
function reasonOf(error: unknown): string {
  const { cause = error } = error as { cause?: unknown };
  return cause instanceof Error ? cause.message : String(cause);
}
