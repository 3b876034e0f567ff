import type { Sandbox } from '@holdpoint/sandbox';
import type { Metrics } from '@holdpoint/telemetry';
import { withRun } from '../adapters/with-run.ts';

/** The same sandbox, whose set-ups are timed: from the call until the command begins. */
export function meterSandbox(sandbox: Sandbox, metrics: Metrics): Sandbox {
  if (!metrics.isOn) return sandbox;
  return withRun(sandbox, (command) => {
    const called = performance.now();
    return sandbox.run({
      ...command,
      onBegun() {
        metrics.record('sandboxSetup', (performance.now() - called) / 1000, { kind: 'command' });
        command.onBegun?.();
      },
    });
  });
}
