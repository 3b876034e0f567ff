import type { Connection } from '@holdpoint/contract';
import type { Executor } from '@holdpoint/engine/worker';
import { boundLabel, type Metrics } from '@holdpoint/telemetry';

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
  return {
    ...executor,
    execute: (call, context) => executor.execute(call, counted(context)),
    runTask: (spec, context) => executor.runTask(spec, counted(context)),
    prepare: (command, context) => executor.prepare(command, counted(context)),
    async validate(validator, context) {
      const began = performance.now();
      let outcome = 'error';
      try {
        const result = await executor.validate(validator, context);
        outcome = result.status;
        return result;
      } finally {
        metrics.record('validateDuration', (performance.now() - began) / 1000, { outcome });
      }
    },
  };
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
