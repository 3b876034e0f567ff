import type { LanguageModelMiddleware } from 'ai';
import type { CutUsage } from './cut-usage.ts';
import { foldStream } from './fold-stream.ts';
import type { ModelDelta } from './port.ts';
import { WholeAnswer } from './stream-fetch.ts';

/**
 * Asks for a stream and gives the same answer as a request without a stream. This middleware runs below all other readers of answers, so
 * ids, arguments and errors are treated in the same way. The answer of a server without streams is read whole.
 */
export const streamed = (onDelta: (delta: ModelDelta) => void, used: CutUsage): LanguageModelMiddleware => ({
  specificationVersion: 'v4',
  // The raw events have the ids written by the provider.
  transformParams: async ({ params }) => ({ ...params, includeRawChunks: true }),
  async wrapGenerate({ doGenerate, doStream }) {
    try {
      const { stream, request, response } = await doStream();
      const { answered, body, ...folded } = await foldStream(stream, onDelta, used);
      return { ...folded, request, response: { ...response, ...answered, body } };
    } catch (error) {
      if (error instanceof WholeAnswer) return doGenerate();
      throw error;
    }
  },
});
