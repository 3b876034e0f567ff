import type { Connection } from '@holdpoint/contract';
import type { Executor } from '@holdpoint/engine/worker';
import { boundLabel, type Metrics } from '@holdpoint/telemetry';
import { observe, timed } from '../observe.ts';

/** The same executor, with counts of connections and validators. */
export function meterExecutor(executor: Executor, metrics: Metrics): Executor {
  if (!metrics.isOn) return executor;
  const count = countConnections(metrics);
  const counted = <Context extends { onConnection(connection: Connection): void }>(context: Context): Context => ({
    ...context,
    onConnection(connection) {
      count(connection);
      context.onConnection(connection);
    },
  });
  const report = (seconds: number, outcome: string) => metrics.record('validateDuration', seconds, { outcome });
  return observe(executor, {
    execute: (act) => (call, context) => act(call, counted(context)),
    runTask: (act) => (spec, context) => act(spec, counted(context)),
    prepare: (act) => (command, context) => act(command, counted(context)),
    validate: (act) => (validator, context) =>
      timed(() => act(validator, context), { outcomeOf: ({ status }) => status, report }),
  });
}

/** Reasons are codes of the guard and the proxy; system error codes depend on the hosts a run connects to. */
function countConnections(metrics: Metrics): (connection: Connection) => void {
  const reasonOf = boundLabel({ most: 40 });
  for (const verdict of ['allowed', 'refused', 'failed']) metrics.count('egressConnections', { verdict }, 0);
  return ({ verdict, reason, bytes_up, bytes_down }) => {
    metrics.count('egressConnections', { verdict, ...(reason !== undefined && { reason: reasonOf(reason) }) });
    metrics.count('egressBytes', { direction: 'up' }, bytes_up);
    metrics.count('egressBytes', { direction: 'down' }, bytes_down);
  };
}
