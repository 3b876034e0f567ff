import type { LanguageModelMiddleware } from 'ai';
import { foldStream } from './fold-stream.ts';
import type { ModelDelta } from './port.ts';
import { WholeAnswer } from './stream-fetch.ts';

/**
 * Asks for a stream and gives the answer that the same request has without one. It runs below everything else that reads answers, so
 * ids, arguments and errors are treated in the same way. A server that sends no stream is read as without one.
 */
export const streamed = (onDelta: (delta: ModelDelta) => void): LanguageModelMiddleware => ({
  specificationVersion: 'v4',
  // The raw events tell which ids the provider wrote.
  transformParams: async ({ params }) => ({ ...params, includeRawChunks: true }),
  async wrapGenerate({ doGenerate, doStream }) {
    try {
      const { stream, request, response } = await doStream();
      const { answered, body, ...folded } = await foldStream(stream, onDelta);
      return { ...folded, request, response: { ...response, ...answered, body } };
    } catch (error) {
      if (error instanceof WholeAnswer) return doGenerate();
      throw error;
    }
  },
});
