import type { Command, Sandbox } from '@holdpoint/sandbox';
import type { Metrics } from '@holdpoint/telemetry';

/** The same sandbox, whose set-ups are timed: from the call until the command begins. */
export function meterSandbox(sandbox: Sandbox, metrics: Metrics): Sandbox {
  if (!metrics.isOn) return sandbox;
  const run = (command: Command): ReturnType<Sandbox['run']> => {
    const called = performance.now();
    return sandbox.run({
      ...command,
      onBegun() {
        metrics.record('sandboxSetup', (performance.now() - called) / 1000, { kind: 'command' });
        command.onBegun?.();
      },
    });
  };
  return new Proxy(sandbox, {
    get(target, name) {
      if (name === 'run') return run;
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
