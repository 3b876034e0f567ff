import { attribute, genAi, genAiOperation } from '@holdpoint/contract';
import { type Planner, spanKeys } from '@holdpoint/engine/worker';
import type { Model } from '@holdpoint/models';
import type { LiveSpans } from '@holdpoint/telemetry';
import { observe } from '../observe.ts';
import type { RunPlaces } from './run-places.ts';

/** The same model: each request to the provider is a span. Tokens and cost are on the span of the asking turn or step. */
export const traceModel = (model: Model, live: LiveSpans): Model =>
  observe(model, {
    generate: (act) => (request) => {
      const name = request.model;
      const attributes = {
        [genAi.operation]: genAiOperation.chat,
        [genAi.provider]: name.includes('/') ? name.slice(0, name.indexOf('/')) : name,
        [genAi.requestModel]: name.slice(name.indexOf('/') + 1),
      };
      return live.during({ name: 'model request', kind: 'client', attributes }, async (set) => {
        const answer = await act(request);
        set({ [genAi.finishReasons]: [answer.finish], [genAi.outputTokens]: answer.usage.output_tokens });
        return answer;
      });
    },
  });

/** The same planner: its requests to a model are below the span of the run, because a failed turn has no span. */
export const tracePlanner = (planner: Planner, live: LiveSpans, places: RunPlaces): Planner =>
  observe(planner, {
    next: (act) => async (input, signal) => {
      const placeOf = await places.of(input.runId);
      const place = () => ({ ...placeOf(spanKeys.run()), attributes: { [attribute.turn]: input.turn } });
      return live.within(place, () => act(input, signal));
    },
  });
