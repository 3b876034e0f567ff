import type { Sandbox } from '@holdpoint/sandbox';
import type { Metrics } from '@holdpoint/telemetry';

/** The same sandbox, whose set-ups are timed: until a command begins to run. */
export function meterSandbox(sandbox: Sandbox, metrics: Metrics): Sandbox {
  if (!metrics.isOn) return sandbox;
  const run: Sandbox['run'] = (command) => {
    const began = performance.now();
    const onBegun = (): void => {
      metrics.record('sandboxSetup', (performance.now() - began) / 1000, { kind: 'command' });
      command.onBegun?.();
    };
    return sandbox.run({ ...command, onBegun });
  };
  return new Proxy(sandbox, {
    get(target, name) {
      if (name === 'run') return run;
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
