import { type Follower, openTelemetryFollower } from '@holdpoint/engine/following';
import type { RedisAddress } from '@holdpoint/engine/redis';
import type { WorkerDeps } from '@holdpoint/engine/worker';
import { countSpans, type Metrics, type TelemetryThread, type Traces } from '@holdpoint/telemetry';
import { type FollowerSettings, followerAnswers, type Measurement, measuredEvent } from './messages.ts';

interface Deps {
  thread: TelemetryThread;
  address: RedisAddress;
  deps: Pick<WorkerDeps, 'redis' | 'logger' | 'now'>;
  traces: Pick<Traces, 'take'> | undefined;
  metrics: Metrics;
  known: FollowerSettings['known'];
  /** Redacts the content of spans. Undefined: spans have no content. */
  redactContent: ((text: string, tenant: string) => string) | undefined;
}

/**
 * Returns a function to open the follower of the logs, for traces and metrics; undefined: the process has neither. The thread reads the
 * logs, folds them and sends the spans, so the event loop has no work. Logs are folded here only for spans with content: the secrets to
 * redact are known here.
 */
export function openFollower(options: Deps): (() => Promise<Follower>) | undefined {
  const { thread, address, deps, traces, metrics, known, redactContent } = options;
  if (traces === undefined && !metrics.isOn) return undefined;
  const from = deps.now();
  if (redactContent !== undefined) {
    const ports = [traces, metrics.isOn ? countSpans(metrics, known) : undefined].filter((port) => port !== undefined);
    return () => openTelemetryFollower({ ...deps, from, ports, redactContent });
  }
  thread.on<Measurement[]>(measuredEvent, (measured) => {
    for (const { method, key, value, labels, origin } of measured) {
      if (method === 'count') metrics.count(key, labels, value, origin);
      else metrics.record(key, value, labels, origin);
    }
  });
  const settings: FollowerSettings = { address, from, known, isTraced: traces !== undefined, isCounted: metrics.isOn };
  return async () => {
    await thread.ask('load', new URL('./follow-in-thread.ts', import.meta.url).href);
    await thread.ask(followerAnswers.open, settings);
    return {
      async *unhandled(which) {
        yield* await thread.ask<string[]>(followerAnswers.unhandled, which);
      },
      handle: (runIds, signal) => thread.ask(followerAnswers.handle, [...runIds], signal),
    };
  };
}
