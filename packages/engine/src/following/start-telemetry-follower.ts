import type { TelemetryPort } from '../ports/index.ts';
import type { ContentRedactor } from '../tracing/index.ts';
import { type FollowDeps, type Following, type FollowPace, followRuns } from './follow-runs.ts';
import { openTelemetryFollower } from './telemetry-follower.ts';

interface Options extends FollowDeps, FollowPace {
  /** Milliseconds since the epoch. */
  now: () => number;
  /** Each gets all spans. A cursor moves when all of them are done. */
  ports: readonly TelemetryPort[];
  /** Spans get prompts, arguments and results, as it returns them. Undefined: they have none. */
  redactContent?: ContentRedactor | undefined;
}

/** Hands the ended spans of all runs to the ports, in one process of many. */
export function startTelemetryFollower(options: Options): Following {
  const { logger, everyMs, lookMs, lostMs } = options;
  return followRuns(options, {
    name: 'telemetry',
    open: () => openTelemetryFollower(options),
    onError: (error) => logger.warn({ err: error }, 'the spans of runs were not exported; it is tried again'),
    endMs: 2000,
    ...{ everyMs, lookMs, lostMs },
  });
}
