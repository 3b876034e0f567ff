import { existsSync } from 'node:fs';
import type { Client } from '@holdpoint/client';
import type { ApiBounds, Periodic, Run, Stuck, Worker } from '@holdpoint/contract/wire';
import { keyFileOf } from '../connection.ts';
import { counted } from '../output/index.ts';
import { describeError } from '../report-error.ts';
import { type Config, commandLine, type Shell } from '../shell/index.ts';
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
import { checkBubblewrap, checkSandbox } from './check-sandbox.ts';
import { checkServers } from './check-servers.ts';
import { checkSignIn } from './check-sign-in.ts';
import { checkStorage } from './check-storage.ts';
import { checkWebhooks } from './check-webhooks.ts';
import type { Finding } from './finding.ts';

/** Whether the trees of runs share layers on this host, or are copies and why. Mounts and unmounts a small trial. */
export async function checkTrees({ environment, dataDir }: Pick<Config, 'environment' | 'dataDir'>): Promise<Finding> {
  const name = 'trees';
  if (!existsSync(dataDir)) return { name, level: 'ok', text: 'nothing yet' };
  const { countMountedTrees, defaultTrees, whyCopies } = await import('@holdpoint/workspace/trees');
  const { HOLDPOINT_LAYERS: asked = defaultTrees } = environment;
  const reason = await whyCopies({ setting: asked === 'copy' ? 'copy' : 'auto', dataDir });
  const form = reason === undefined ? 'on shared layers, by overlay mounts' : `copies of the source: ${reason}`;
  const mounted = countMountedTrees(dataDir);
  const text = mounted === 0 ? form : `${form}; ${mounted} mounted, which \`holdpoint down\` unmounts`;
  return { name, level: 'ok', text, data: { layers: reason === undefined, mounted } };
}

const maxMs = 3000;
const maxNamed = 5;

/** Damaged files shared by several runs: files found now, and files put aside by workers. */
export async function checkDamage({ dataDir }: Pick<Config, 'dataDir'>): Promise<Finding> {
  const name = 'shared files';
  const { findDamagedLayers, listSetAside } = await import('@holdpoint/workspace/trees');
  const { damaged, complete } = await findDamagedLayers(dataDir, maxMs);
  const aside = listSetAside(dataDir);
  const data = { damaged, set_aside: aside, complete };
  if (damaged.length + aside.length === 0) {
    return { name, level: 'ok', text: complete ? 'as they were written' : 'no damage in 3 seconds of looking', data };
  }
  const lines = [
    ...damaged.map((one) => `layers/${one.name}: ${one.why}`),
    ...aside.map((one) => `set aside ${one.at}: ${one.kind} ${one.name}: ${one.why}`),
  ];
  const more = lines.length > maxNamed ? [`and ${lines.length - maxNamed} more`] : [];
  const counts = `${counted(damaged.length, 'damaged layer')}, ${aside.length} set aside`;
  return {
    name,
    level: 'warn',
    text: [counts, ...lines.slice(0, maxNamed), ...more].join('\n'),
    data,
    next: 'Check the disk and its file system (dmesg, smartctl), and that no program but Holdpoint writes to the data directory. Runs get new files by themselves; look at what steps read before that (workspace.distrusted in their logs).',
  };
}

export function judgePeriodic(name: string, last: Periodic): Finding {
  if (!last.overdue) return { name, level: 'ok', text: last.last_at === null ? 'not yet' : `last at ${last.last_at}` };
  return {
    ...{ name, level: 'fail', text: `overdue: last at ${last.last_at ?? 'no time'}` },
    next: 'Start a worker. If one runs, restart it and read its log: until then stuck runs are not repaired.',
  };
}

/** Places of runs in progress, and how many runs stand in line. */
function placesOf(places: Stuck['places']): Finding[] {
  if (places === undefined) return [];
  const { working, asking, waiting } = places;
  const used = `${working.used} of ${working.of} runs in progress work, ${asking.used} of ${asking.of} ask a model`;
  return [{ name: 'places', level: 'ok', text: `${used}; ${waiting} ${waiting === 1 ? 'stands' : 'stand'} in line` }];
}

/** Repairs by the sweeper, and runs in wait for a person. */
export async function checkStuck(client: Client): Promise<Finding[]> {
  const [{ repairs, runs, paused, places, sweep, maintenance }, queues] = await Promise.all([
    client.stuck(),
    client.listQueues(),
  ]);
  const count = (counts: Record<string, number>): string =>
    Object.entries(counts)
      .map(([name, number]) => `${number} ${name}`)
      .join(', ');
  const work = queues.map(({ name, backlog, active, parked }) => `${name} ${backlog}/${active}/${parked}`).join(', ');
  return [
    { name: 'runs', level: 'ok', text: `active: ${count(runs) || 'none'}` },
    ...placesOf(places),
    { name: 'queues', level: 'ok', text: `waiting/active/parked: ${work}` },
    judgePeriodic('sweep', sweep),
    judgePeriodic('maintenance', maintenance),
    Object.keys(paused).length === 0
      ? { name: 'paused runs', level: 'ok', text: 'none' }
      : {
          ...{ name: 'paused runs', level: 'warn', text: count(paused) },
          next: `To see why: ${commandLine('runs', 'list', '--status', 'paused')}; then resume, retry or cancel them.`,
        },
    Object.keys(repairs).length === 0
      ? { name: 'repairs', level: 'ok', text: 'none' }
      : {
          ...{ name: 'repairs', level: 'warn', text: count(repairs) },
          next: 'A process died, the power failed, or Redis lost data (check appendfsync). The logs of the runs name the cause (run.repaired, workspace.distrusted).',
        },
  ];
}

/** Workers with aborted but unfinished jobs. */
export const checkStuckHandlers = (workers: readonly Worker[]): Finding[] =>
  workers.flatMap(({ id, stuck = 0 }): Finding[] =>
    stuck === 0
      ? []
      : [
          {
            ...{ name: 'stuck jobs', level: 'warn' },
            text: `worker ${id} aborted ${stuck} jobs that have not ended; their places are free`,
            next: 'Its log names their runs (event handler_stuck). Look for a disk or a remote that does not answer; the worker restarts itself when they add up.',
          },
        ],
  );

const maxLateMs = 1000;

/** Workers whose event loop was blocked: a blocked worker renews no locks and sees no cancel. */
export const checkLoops = (workers: readonly Worker[]): Finding[] =>
  workers.flatMap(({ id, loop }): Finding[] => {
    if (loop === undefined || loop.late_ms <= maxLateMs) return [];
    const { late_ms, busy_ms } = loop;
    const isOwnWork = busy_ms > late_ms / 2;
    return [
      {
        ...{ name: 'event loop', level: 'warn' },
        text: `worker ${id} was blocked for ${late_ms} ms, of these ${busy_ms} ms by its own work`,
        next: isOwnWork
          ? 'Its log names the steps that were running (event loop_late); report this as a bug, with those steps.'
          : 'Other programs used the processors: add processors, or run fewer steps at once (HOLDPOINT_WORKER_STEPS).',
      },
    ];
  });

/** The addresses of the workers' metrics. */
export function checkMetrics(workers: readonly Worker[]): Finding[] {
  const name = 'metrics';
  if (workers.length === 0) return [];
  const places = workers.flatMap(({ metrics }) => metrics ?? []);
  if (places.length === 0) return [{ name, level: 'ok', text: 'off (HOLDPOINT_METRICS)' }];
  const text = `/metrics of the API, and ${places.join(', ')}`;
  if (places.length === workers.length) return [{ name, level: 'ok', text }];
  const without = workers.length - places.length;
  return [
    {
      ...{ name, level: 'warn', text: `${text}; ${without} workers have none` },
      next: 'Start all workers with the same HOLDPOINT_METRICS: one of them follows the logs, and it may be one without.',
    },
  ];
}

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
