import { readFields, spanIdOf, spanKeys, traceIdOf } from '@holdpoint/engine/worker';
import type { LiveSpans } from '@holdpoint/telemetry';
import type { Redis } from 'ioredis';

type Place = ReturnType<Parameters<LiveSpans['within']>[0]>;

/** Gives the place of a span in a run's trace: the id of a span is computed. @param key key of the span, as in the fold of the log */
type PlaceOf = (key: string) => Place;

/** Places of spans in the traces of runs. Each process reads only the trace context from a run's submission, once for each run. */
export interface RunPlaces {
  /** At once when this process knows the run. */
  of(runId: string): PlaceOf | Promise<PlaceOf>;
  /** The key of the publish under way, or of the run. */
  keyOfPublish(runId: string): Promise<string>;
}

const mostKnown = 1000;

export function openRunPlaces(redis: Redis): RunPlaces {
  const known = new Map<string, PlaceOf>();
  const read = async (runId: string): Promise<PlaceOf> => {
    const { traceparent: read } = await readFields(redis, runId, ['traceparent']);
    const traceparent = read ?? undefined;
    const placeOf: PlaceOf = (key) => ({
      run_id: runId,
      trace_id: traceIdOf(runId, traceparent),
      traceparent,
      span_id: spanIdOf(runId, key),
    });
    known.set(runId, placeOf);
    if (known.size > mostKnown) known.delete([...known.keys()][0] ?? '');
    return placeOf;
  };
  return {
    of: (runId) => known.get(runId) ?? read(runId),
    async keyOfPublish(runId) {
      const { publication, publish_request } = await readFields(redis, runId, ['publication', 'publish_request']);
      const request = publication === 'requested' && publish_request ? JSON.parse(publish_request) : {};
      return typeof request.number === 'number' ? spanKeys.publish(request.number) : spanKeys.run();
    },
  };
}
