import type { Command, Sandbox } from '@holdpoint/sandbox';
import type { LiveSpans } from '@holdpoint/telemetry';

/** The same sandbox: each command has a span for its set-up, and one for the time that it runs. */
export const traceSandbox = (sandbox: Sandbox, live: LiveSpans): Sandbox =>
  new Proxy(sandbox, {
    get(target, name) {
      if (name === 'run') return (command: Command) => run(target, live, command);
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });

async function run(sandbox: Sandbox, live: LiveSpans, command: Command): ReturnType<Sandbox['run']> {
  const startTime = Date.now();
  let begunAt: number | undefined;
  const driver = { 'holdpoint.isolation.driver': sandbox.capabilities.driver };
  const onBegun = (): void => {
    begunAt = Date.now();
    command.onBegun?.();
  };
  const add = (error?: string): void => {
    const endTime = Date.now();
    live.add({
      name: 'sandbox setup',
      startTime,
      endTime: begunAt ?? endTime,
      attributes: driver,
      error: begunAt ? undefined : error,
    });
    if (begunAt !== undefined)
      live.add({ name: 'sandbox command', startTime: begunAt, endTime, attributes: driver, error });
  };
  try {
    const result = await sandbox.run({ ...command, onBegun });
    add(result.end.status === 'exited' ? undefined : result.end.status);
    return result;
  } catch (error) {
    add(error instanceof Error && 'code' in error ? String(error.code) : 'error');
    throw error;
  }
}
