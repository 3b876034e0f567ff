import type { Command, Sandbox } from '@holdpoint/sandbox';
import type { LiveSpans } from '@holdpoint/telemetry';
import { observe } from '../observe.ts';

/** The same sandbox: each command has a span for its set-up, and a span for its running time. */
export const traceSandbox = (sandbox: Sandbox, live: LiveSpans): Sandbox =>
  observe(sandbox, { run: (act) => (command) => run({ act, driver: sandbox.capabilities.driver, live }, command) });

async function run(
  { act, driver: name, live }: { act: Sandbox['run']; driver: string; live: LiveSpans },
  command: Command,
): ReturnType<Sandbox['run']> {
  const startTime = Date.now();
  let begunAt: number | undefined;
  const driver = { 'holdpoint.isolation.driver': name };
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
    const result = await act({ ...command, onBegun });
    add(result.end.status === 'exited' ? undefined : result.end.status);
    return result;
  } catch (error) {
    add(error instanceof Error && 'code' in error ? String(error.code) : 'error');
    throw error;
  }
}
