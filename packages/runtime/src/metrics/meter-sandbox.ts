import type { Sandbox } from '@holdpoint/sandbox';
import type { Metrics } from '@holdpoint/telemetry';
import { observe } from '../observe.ts';

/** The same sandbox, whose set-ups are timed: from the call until the command begins. */
export function meterSandbox(sandbox: Sandbox, metrics: Metrics): Sandbox {
  if (!metrics.isOn) return sandbox;
  return observe(sandbox, {
    run: (act) => (command) => {
      const called = performance.now();
      const onBegun = () => {
        metrics.record('sandboxSetup', (performance.now() - called) / 1000, { kind: 'command' });
        command.onBegun?.();
      };
      return act({ ...command, onBegun });
    },
  });
}
