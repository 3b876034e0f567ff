import { once } from 'node:events';
import { createConnection } from 'node:net';
import { createInterface } from 'node:readline';
import type { System } from './system.ts';
import { until } from './until.ts';

/**
 * Kills a process when Redis gets a command of the run with a text. Redis may have executed the command, and its answer is lost.
 * @returns a promise for the kill
 */
export async function killAt(
  system: Pick<System, 'redis'>,
  { runId, text, pid }: { runId: string; text: string; pid: number },
): Promise<() => Promise<void>> {
  const monitor = createConnection(system.redis.address);
  await once(monitor, 'connect');
  monitor.write('MONITOR\r\n');
  await once(monitor, 'data');
  monitor.on('error', () => monitor.destroy());
  let isKilled = false;
  createInterface(monitor).on('line', (command) => {
    if (isKilled || !command.includes(`hp:{${runId}}:log`) || !command.includes(text)) return;
    isKilled = true;
    process.kill(pid, 'SIGKILL');
    monitor.destroy();
  });
  return () => until(`the process ${pid} is killed at ${text}`, () => isKilled);
}
