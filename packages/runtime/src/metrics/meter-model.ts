import { genAiModel } from '@holdpoint/contract';
import { type Model, ModelError, type ModelRequest } from '@holdpoint/models';
import { boundModel, type Metrics } from '@holdpoint/telemetry';
import { observe } from '../observe.ts';

const mostModels = 30;

/**
 * The same model port, with timed requests. A run names its model freely, so only known names and names with an answer become labels:
 * refused names would fill the labels.
 */
export function meterModel(model: Model, metrics: Metrics, known: Iterable<string>): Model {
  if (!metrics.isOn) return model;
  const answered = new Set(known);
  const labelsOf = boundModel({ known, most: mostModels });
  return observe(model, {
    generate: (act) => async (request) => {
      const began = performance.now();
      let error: string | undefined = 'canceled';
      let first: number | undefined;
      try {
        const answer = await act(
          noteFirst(request, () => {
            first ??= performance.now() - began;
          }),
        );
        error = undefined;
        answered.add(request.model);
        return answer;
      } catch (cause) {
        if (!request.signal.aborted) error = cause instanceof ModelError ? cause.code : 'other';
        throw cause;
      } finally {
        const named = labelsOf(answered.has(request.model) ? genAiModel(request.model) : undefined);
        const labels = { 'gen_ai.operation.name': 'chat', ...named };
        if (first !== undefined) metrics.record('firstToken', first / 1000, labels);
        metrics.record('modelDuration', (performance.now() - began) / 1000, {
          ...labels,
          ...(error !== undefined && { 'error.type': error }),
        });
      }
    },
  });
}

/** The same request. A request that asks for no stream stays so. */
function noteFirst(request: ModelRequest, note: () => void): ModelRequest {
  const { onDelta } = request;
  if (onDelta === undefined) return request;
  return {
    ...request,
    onDelta(delta) {
      note();
      onDelta(delta);
    },
  };
}
