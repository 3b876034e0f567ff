import { type FollowDeps, type Follower, type Following, type FollowPace, followRuns } from './follow-runs.ts';

interface Options extends FollowDeps, FollowPace {
  /** Called when this process becomes the holder: `openTelemetryFollower`, here or in a thread. */
  open(): Promise<Follower>;
}

/** Hands over the ended spans of all runs, in one process of many. */
export function startTelemetryFollower(options: Options): Following {
  const { logger, everyMs, lookMs, lostMs } = options;
  return followRuns(options, {
    name: 'telemetry',
    open: options.open,
    onError: (error) => logger.warn({ err: error }, 'the spans of runs were not exported; it is tried again'),
    endMs: 2000,
    ...{ everyMs, lookMs, lostMs },
  });
}
