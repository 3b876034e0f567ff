import { connectThread, type Follower, openClock, openTelemetryFollower } from '@holdpoint/engine/following';
import type { OpenPart } from '@holdpoint/telemetry';
import { type FollowerSettings, followerAnswers, type Measurement, measuredEvent } from './messages.ts';

/** Follows the logs of runs in the telemetry thread, with a connection to Redis of its own. */
export const openPart: OpenPart = ({ report, logger, take, countSpans }) => {
  const now = openClock();
  let follower: Promise<Follower> | undefined;
  let redis: ReturnType<typeof connectThread> | undefined;
  let counted: ReturnType<typeof counting> | undefined;

  const counting = (known: FollowerSettings['known']) => {
    let measured: Measurement[] = [];
    const { take } = countSpans(
      {
        count: (key, labels, value = 1, origin) => void measured.push({ method: 'count', key, value, labels, origin }),
        record: (key, value, labels, origin) => void measured.push({ method: 'record', key, value, labels, origin }),
      },
      known,
    );
    return {
      async take(batch: Parameters<typeof take>[0]): Promise<void> {
        await take(batch);
        report(measuredEvent, measured);
        measured = [];
      },
    };
  };
  const opened = (): Promise<Follower> => follower ?? Promise.reject(new Error('the follower is not open'));

  return {
    async [followerAnswers.open]({ address, from, known, isTraced, isCounted }: FollowerSettings): Promise<void> {
      redis ??= connectThread(address, logger);
      if (isCounted) counted ??= counting(known);
      const ports = [isTraced && take ? { take } : undefined, counted].filter((port) => port !== undefined);
      follower = openTelemetryFollower({ redis, logger, now, from, ports });
      await follower;
    },
    [followerAnswers.unhandled]: async (which: 'all' | 'active') => Array.fromAsync((await opened()).unhandled(which)),
    [followerAnswers.handle]: async (runIds: string[], signal) => (await opened()).handle(runIds, signal),
  };
};
