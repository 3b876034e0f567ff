import type { ApiBounds, Run, Worker } from '@holdpoint/contract/wire';
import { keyFileOf } from '../connection.ts';
import { counted } from '../output/index.ts';
import { describeError } from '../report-error.ts';
import { commandLine, type Shell } from '../shell/index.ts';
import { findSystem } from '../system/index.ts';
import { checkAgents } from './check-agents.ts';
import { checkAudit } from './check-audit.ts';
import { checkBounds } from './check-bounds.ts';
import { checkDataDirectory, checkKeyFile } from './check-files.ts';
import { checkInstallation } from './check-installation.ts';
import { checkModel } from './check-model.ts';
import { checkNode, checkPrograms } from './check-programs.ts';
import { checkPullRequests, openHosts } from './check-pull-requests.ts';
import { checkRedis } from './check-redis.ts';
import { checkRetention } from './check-retention.ts';
import { checkLoops, checkMetrics, checkStuck, checkStuckHandlers } from './check-running.ts';
import { checkBubblewrap, checkSandbox } from './check-sandbox.ts';
import { checkServers } from './check-servers.ts';
import { checkSignIn } from './check-sign-in.ts';
import { checkStorage } from './check-storage.ts';
import { checkDamage, checkTrees } from './check-trees.ts';
import { checkWebhooks } from './check-webhooks.ts';
import type { Finding } from './finding.ts';

const maxRuns = 2000;

/** Checks the needs of Holdpoint on this machine. Changes nothing. */
export async function examine(shell: Shell): Promise<Finding[]> {
  const { config } = shell;
  const isUp = findSystem(config.dataDir)?.isUp === true;
  const { findings: api, bounds, workers, runs } = await askApi(shell, isUp || config.url !== undefined);
  const sizes = new Map<string, number>();
  const storage = await checkStorage(config.dataDir, undefined, sizes);
  return [
    checkNode(config, process.versions.node),
    ...(await checkPrograms(config)),
    await checkDataDirectory(config.dataDir),
    storage,
    checkRetention({ workers, runs, sizes }),
    ...(await checkBounds(config, { api: bounds, workers })),
    ...checkPullRequests(openHosts(config, bounds)),
    ...checkSignIn(bounds, config),
    ...(await checkServers(config)),
    ...(await checkAgents(config)),
    await checkKeyFile(keyFileOf(config)),
    ...(await checkRedis(config, isUp)),
    ...(await checkInstallation(config)),
    ...(await checkAudit(config)),
    checkModel(config, bounds?.model),
    ...checkBubblewrap(config),
    ...(await checkSandbox(config, workers[0]?.capabilities)),
    await checkTrees(config),
    await checkDamage(config),
    ...api,
  ];
}

async function askApi(
  shell: Shell,
  expected: boolean,
): Promise<{ findings: Finding[]; bounds?: ApiBounds; workers: Worker[]; runs: Run[] }> {
  const name = 'api';
  if (!expected) return { findings: [{ name, level: 'ok', text: 'not running (npm start)' }], workers: [], runs: [] };
  try {
    const client = await shell.connect();
    const [workers, bounds] = await Promise.all([client.listWorkers(), client.getBounds()]);
    const stuck = [
      ...checkMetrics(workers),
      ...checkLoops(workers),
      ...checkStuckHandlers(workers),
      ...(await checkStuck(client)),
      ...(await checkWebhooks(client)),
    ];
    const { runs, unreadable } = await listRuns(client);
    stuck.push(...unreadable);
    if (workers.length > 0)
      return {
        findings: [{ name, level: 'ok', text: `answers; ${counted(workers.length, 'worker')}` }, ...stuck],
        bounds,
        workers,
        runs,
      };
    const next = `Start one: npm start, or ${commandLine('worker')} with the same HOLDPOINT_DATA and REDIS_URL.`;
    const silent: Finding = { name, level: 'warn', text: 'answers, but no worker is alive: runs wait', next };
    return { findings: [silent, ...stuck], bounds, workers, runs };
  } catch (error) {
    const { message, next } = describeError(error);
    return { findings: [{ name, level: 'fail', text: message, next }], workers: [], runs: [] };
  }
}

/** The latest runs: few of the older ones still have a workspace. */
async function listRuns(
  client: Awaited<ReturnType<Shell['connect']>>,
): Promise<{ runs: Run[]; unreadable: Finding[] }> {
  const runs: Run[] = [];
  const unreadable: Finding[] = [];
  let cursor: string | undefined;
  do {
    const page = await client.listRuns({ limit: 100, cursor });
    runs.push(...page.data);
    for (const { id, detail, next } of page.damaged ?? []) {
      unreadable.push({ name: 'runs', level: 'fail', text: `${id} cannot be read: ${detail}`, next });
    }
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined && runs.length < maxRuns);
  return { runs, unreadable };
}
