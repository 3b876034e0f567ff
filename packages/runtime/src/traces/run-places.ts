import { readFields, spanIdOf, spanKeys, traceIdOf } from '@holdpoint/engine/worker';
import type { LiveSpans } from '@holdpoint/telemetry';
import type { Redis } from 'ioredis';

type Place = ReturnType<Parameters<LiveSpans['within']>[0]>;

/** Where spans of a run hang: the id of a span is computed. @param key what the span is, as in the fold of the log */
type PlaceOf = (key: string) => Place;

/** Where spans of runs hang. Only the context that a run was submitted with is read, once in a process. */
export interface RunPlaces {
  /** At once when this process knows the run. */
  of(runId: string): PlaceOf | Promise<PlaceOf>;
  /** The key of the publish that is under way, or of the run. */
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
