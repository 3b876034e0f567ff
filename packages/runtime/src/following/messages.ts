import type { RedisAddress } from '@holdpoint/engine/redis';
import type { CounterKey, HistogramKey, Metrics } from '@holdpoint/telemetry';

/** How the thread follows the logs of runs. */
export interface FollowerSettings {
  address: RedisAddress;
  /** When telemetry was switched on, in milliseconds since the epoch. */
  from: number;
  /** Names allowed as labels of metrics. */
  known: { tools: readonly string[]; models: readonly string[] };
  /** Whether spans are sent. */
  isTraced: boolean;
  /** Whether spans are counted: the thread reports `measured`. */
  isCounted: boolean;
}

/** Names of the answers added to the thread by the follower. */
export const followerAnswers = { open: 'follow', unhandled: 'follow unhandled', handle: 'follow handle' } as const;

/** Reports a list of measurements for the metrics of the process. */
export const measuredEvent = 'measured';

interface Measured<Method extends string, Key> {
  method: Method;
  key: Key;
  value: number;
  labels: Parameters<Metrics['record']>[2];
  origin: Parameters<Metrics['record']>[3];
}
export type Measurement = Measured<'count', CounterKey> | Measured<'record', HistogramKey>;
