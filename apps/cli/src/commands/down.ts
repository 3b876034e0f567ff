import { Command } from 'commander';
import type { Shell } from '../shell/index.ts';
import { drainMarginMs, endChildren, endProcess, findSystem, release } from '../system/index.ts';

/** After the workers' own limit: the API and Redis stop last. */
const marginMs = 60_000;

export const downCommand = (shell: Shell): Command =>
  new Command('down')
    .description('stop what `up` started on this data directory; runs continue at the next start')
    .option('--json', 'one JSON object')
    .action(({ json }: { json?: true }) => down(shell, json === true));

const stayMounted = (trees: number): string =>
  `${trees} ${trees === 1 ? 'tree stays' : 'trees stay'} mounted, because a process uses ${trees === 1 ? 'it' : 'them'}; \`holdpoint down\` unmounts once it has ended`;

async function down(shell: Shell, json: boolean): Promise<void> {
  const { dataDir, drainMs } = shell.config;
  const { record, isUp: wasUp = false } = findSystem(dataDir) ?? {};
  if (record !== undefined && wasUp) {
    shell.say(`stopping process ${record.pid}: workers finish or hand back their steps`);
    await endProcess(record, { graceMs: drainMs + marginMs });
  }
  // Left over only when `up` was killed.
  const left = record === undefined ? 0 : await endChildren(record, { graceMs: drainMs + drainMarginMs });
  const { unmountTrees } = await import('@holdpoint/workspace/trees');
  const mounted = await unmountTrees(dataDir);
  if (record !== undefined) release(dataDir, record.pid);
  const { stopEmbeddedRedis } = await import('@holdpoint/embedded-redis');
  const redis = await stopEmbeddedRedis({ dataDir });
  if (json) {
    const stopped = wasUp || left > 0 || redis;
    const rest = { left_over: left, left_over_redis: redis, mounted_trees: mounted };
    return shell.printJson({ stopped, up: wasUp, ...rest });
  }
  if (mounted > 0) shell.say(stayMounted(mounted));
  if (!wasUp && left === 0 && !redis) return shell.print(`Nothing runs on ${dataDir}.`);
  if (left > 0) shell.say(`stopped ${left} leftover processes`);
  if (redis) shell.say('stopped the leftover embedded Redis');
  shell.print('Stopped; nothing is lost.');
}
