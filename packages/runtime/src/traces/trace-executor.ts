import { attribute, type Connection } from '@holdpoint/contract';
import { type Executor, spanKeys } from '@holdpoint/engine/worker';
import type { LiveSpans } from '@holdpoint/telemetry';
import { observe } from '../observe.ts';
import type { RunPlaces } from './run-places.ts';

/** The same executor: spans of a call are below the span of the attempt, and each connection is a span. */
export function traceExecutor(executor: Executor, live: LiveSpans, places: RunPlaces): Executor {
  const withConnections = <Context extends { onConnection(connection: Connection): void }>(
    context: Context,
    place: Parameters<LiveSpans['within']>[0],
  ): Context => ({
    ...context,
    onConnection(connection) {
      live.within(place, () => live.add(spanOfConnection(connection)));
      context.onConnection(connection);
    },
  });
  return observe(executor, {
    execute: (act) => async (call, context) => {
      const { runId, stepId, attempt } = context;
      const placeOf = await places.of(runId);
      const place = () => ({
        ...placeOf(spanKeys.attempt(stepId, attempt)),
        attributes: { [attribute.stepId]: stepId },
      });
      return live.within(place, () => act(call, withConnections(context, place)));
    },
    runTask: (act) => async (spec, context) => {
      const placeOf = await places.of(context.runId);
      const place = () => placeOf(context.taskId);
      return live.within(place, () => act(spec, withConnections(context, place)));
    },
  });
}

function spanOfConnection(connection: Connection) {
  // Without the host: the host is part of the call's request.
  const { port, verdict, reason, bytes_up, bytes_down, duration_ms } = connection;
  const endTime = Date.now();
  return {
    name: `egress ${verdict}`,
    kind: 'client' as const,
    ...{ startTime: endTime - duration_ms, endTime },
    attributes: {
      'server.port': port,
      'holdpoint.network.verdict': verdict,
      'holdpoint.network.bytes_up': bytes_up,
      'holdpoint.network.bytes_down': bytes_down,
    },
    error: verdict === 'allowed' ? undefined : (reason ?? verdict),
  };
}
