import { readFields, spanIdOf, spanKeys, traceIdOf } from '@holdpoint/engine/worker';
import type { LiveSpans } from '@holdpoint/telemetry';
import type { Redis } from 'ioredis';

type Place = Parameters<LiveSpans['within']>[0];

/** Where spans of runs hang. The id of a span is computed; only the context that the run was submitted with is read, once in a process. */
export interface RunPlaces {
  /** @param key what the span is, as in the fold of the log */
  at(runId: string, key: string): Promise<Place>;
  /** The publish that is under way, or the run. */
  ofPublish(runId: string): Promise<Place>;
}

const mostKnown = 1000;

export function openRunPlaces(redis: Redis): RunPlaces {
  const known = new Map<string, string | undefined>();
  const callerOf = async (runId: string): Promise<string | undefined> => {
    if (known.has(runId)) return known.get(runId);
    const { traceparent = null } = await readFields(redis, runId, ['traceparent']);
    known.set(runId, traceparent ?? undefined);
    if (known.size > mostKnown) known.delete([...known.keys()][0] ?? '');
    return traceparent ?? undefined;
  };
  const at: RunPlaces['at'] = async (runId, key) => {
    const traceparent = await callerOf(runId);
    return {
      run_id: runId,
      trace_id: traceIdOf(runId, traceparent),
      traceparent,
      span_id: spanIdOf(runId, key),
    };
  };
  return {
    at,
    async ofPublish(runId) {
      const { publication, publish_request } = await readFields(redis, runId, ['publication', 'publish_request']);
      const request = publication === 'requested' && publish_request ? JSON.parse(publish_request) : {};
      return at(runId, typeof request.number === 'number' ? spanKeys.publish(request.number) : spanKeys.run());
    },
  };
}
