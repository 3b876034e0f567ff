import { type Model, type ModelAnswer, ModelError, type ModelRequest } from '@holdpoint/models';

export interface CountingModel extends Model {
  /** The requests for turns, as text. */
  requests: string[];
  /** The requests for summaries, as text. */
  summaries: string[];
  /** How many of them asked for a stream. */
  streamedSummaries?: number;
  refused: number;
  /** Changes how it behaves from now on. */
  behave?(other: Partial<Pick<Behaviour, 'summary'>>): void;
}

interface Behaviour {
  /** Tokens that a request may have. A token is four bytes of it. */
  window: number;
  /** Whether a refusal says how large the window is. */
  tells?: boolean;
  /** Whether answers say how many tokens were read. */
  counts?: boolean;
  answer(request: ModelRequest): Pick<ModelAnswer, 'text' | 'calls'>;
  /** What a request for a summary gets. @default a text */
  summary?: 'text' | 'empty' | 'cut' | 'refused';
}

/** A model that refuses what is longer than its window, and counts honestly. */
export function countingModel({
  window,
  tells,
  counts = true,
  answer,
  summary: first = 'text',
}: Behaviour): CountingModel {
  let summary = first;
  const model: CountingModel = {
    ...{ requests: [], summaries: [], refused: 0 },
    behave: (other) => {
      summary = other.summary ?? summary;
    },
    async generate(request) {
      const { signal: _, onDelta, ...sent } = request;
      const text = JSON.stringify(sent);
      const tokens = Math.ceil(Buffer.byteLength(text) / 4);
      if (tokens > window) {
        model.refused += 1;
        const message = 'the request is too long';
        throw new ModelError({ code: 'EMODELCONTEXT', message, next: '', window: tells ? window : undefined });
      }
      const last = request.messages.at(-1);
      const isSummary = last?.role === 'user' && last.text.endsWith('Write the notes now.');
      (isSummary ? model.summaries : model.requests).push(text);
      if (isSummary && onDelta !== undefined) model.streamedSummaries = (model.streamedSummaries ?? 0) + 1;
      if (isSummary && summary === 'refused') {
        throw new ModelError({ code: 'EMODELREQUEST', message: 'no summaries', next: '' });
      }
      const given = isSummary
        ? { text: summary === 'empty' ? ' ' : 'They worked. '.repeat(20), calls: [] }
        : answer(request);
      return {
        ...{ model: request.model, provider: { format: 'test', text: given.text }, ...given },
        finish: isSummary && summary === 'cut' ? 'length' : given.calls.length > 0 ? 'tool_calls' : 'stop',
        usage: { input_tokens: counts ? tokens : 0, output_tokens: 10 },
      };
    },
  };
  return model;
}
