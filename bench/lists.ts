/**
 * The cost of lists with many runs: each list of runs and approvals, through a real API, with 10 runs and with 10,000. Both are pages of 10
 * items. Two systems answer in turns. The bench also measures `/healthz` while the larger system answers lists.
 */
import { copyRun } from '@holdpoint/engine/testing';
import { Redis } from 'ioredis';
import { bash, nextApproval, plan, type System, startSystem } from '../tests/harness/index.ts';

const [few, many] = [10, Number(process.env.HOLDPOINT_BENCH_RUNS ?? 10_000)];
const most = 2;
/** The first looks at every title, and the page of the second has ten times the items with many runs. */
const withoutTarget: ReadonlySet<string> = new Set(['runs, title without a hit', 'approvals, by urgency, page of 100']);
/** Time for the first page of the inbox in the console. */
const inbox = { name: 'approvals, by urgency, page of 100', mostMs: 50 };
const rounds = 60;
const warmUp = 10;
const say = (line: string): void => void process.stdout.write(`${line}\n`);

const paths = {
  runs: '/v1/runs?limit=10',
  'runs, status': '/v1/runs?limit=10&status=waiting',
  'runs, two statuses': '/v1/runs?limit=10&status=waiting,succeeded',
  'runs, label': '/v1/runs?limit=10&label=team:red',
  'runs, label and status': '/v1/runs?limit=10&label=team:red&status=waiting',
  'runs, status without a hit': '/v1/runs?limit=10&status=failed',
  'runs, label without a hit': '/v1/runs?limit=10&label=team:none',
  'runs, label and status without a hit': '/v1/runs?limit=10&label=team:red&status=failed',
  'runs, title': '/v1/runs?limit=10&title=group',
  'runs, title without a hit': '/v1/runs?limit=10&title=nothing',
  'counts of runs': '/v1/runs/counts',
  approvals: '/v1/approvals?limit=10',
  'approvals, by urgency': '/v1/approvals?limit=10&order=expires_first',
  'approvals, by urgency, page of 100': '/v1/approvals?limit=100&order=expires_first',
  'approvals, by urgency, tool': '/v1/approvals?limit=10&order=expires_first&tool=bash',
  'approvals, oldest first': '/v1/approvals?limit=10&order=oldest',
  'approvals, any status': '/v1/approvals?limit=10&status=pending,approved,rejected',
  'approvals, any status, tool': '/v1/approvals?limit=10&status=pending,approved,rejected&tool=bash',
  'approvals, decided (none)': '/v1/approvals?limit=10&by=admin',
  'counts of approvals': '/v1/approvals/counts',
  'approvals, tool': '/v1/approvals?limit=10&tool=bash',
  'approvals, tool and label': '/v1/approvals?limit=10&tool=bash&label=team%3Dred',
  'approvals, tool without a hit': '/v1/approvals?limit=10&tool=write_file',
  'approvals, rule without a hit': '/v1/approvals?limit=10&rule=none',
  stuck: '/v1/stuck',
};

const systems = [await parked(few), await parked(many)] as const;
try {
  const times = new Map<string, [number[], number[]]>();
  for (let round = -warmUp; round < rounds; round++) {
    for (const [name, path] of Object.entries(paths)) {
      const found = times.get(name) ?? [[], []];
      times.set(name, found);
      for (const which of [0, 1] as const) {
        const took = await ask(systems[which], path);
        if (round >= 0) found[which].push(took);
      }
    }
  }
  say(`milliseconds of a page of 10, with ${few} runs and with ${many}; ${rounds} times each, in turns`);
  for (const [name, [small, large]] of times) {
    const ratios = small.map((one, at) => (large[at] ?? 0) / one).toSorted((a, b) => a - b);
    const ratio = at(large, 0.5) / at(small, 0.5);
    const spread = `p10 ${at(ratios, 0.1).toFixed(2)}, p90 ${at(ratios, 0.9).toFixed(2)}`;
    const mark = withoutTarget.has(name) ? '' : `(target: at most ${most})${ratio <= most ? '' : ' MISSED'}`;
    say(`  ${name.padEnd(38)} ${shown(small)}  ${shown(large)}  ratio ${ratio.toFixed(2)} (${spread})  ${mark}`);
  }
  const shownFirst = at(times.get(inbox.name)?.[1] ?? [], 0.5);
  const isMet = shownFirst <= inbox.mostMs;
  say(
    `  the inbox with ${many} parked: ${shownFirst.toFixed(1)} ms (target: at most ${inbox.mostMs})${isMet ? '' : ' MISSED'}`,
  );
  const alone: number[] = [];
  for (let round = 0; round < rounds; round++) alone.push(await ask(systems[1], '/healthz'));
  let isOver = false;
  const readers = [...Array(20).keys()].map(async (n) => {
    const all = Object.values(paths);
    for (let at = n; !isOver; at++) await ask(systems[1], all[at % all.length] ?? '');
  });
  const beside: number[] = [];
  for (let round = 0; round < rounds; round++) beside.push(await ask(systems[1], '/healthz'));
  isOver = true;
  await Promise.all(readers);
  say(`  /healthz alone ${shown(alone)}; beside 20 readers of lists ${shown(beside)}`);
} finally {
  for (const system of systems) await system.end();
}

async function parked(runs: number): Promise<System> {
  const system = await startSystem({ HOLDPOINT_LOG: 'silent' }, {});
  const worker = await system.startWorker({ HOLDPOINT_LOG: 'info' });
  const { run } = await system.client.createRun({
    plan: plan([bash('true')]),
    toolset: 'holdpoint',
    policy: { rules: [{ match: { tool: 'bash' }, action: 'hold' }] },
    labels: { team: 'red' },
  });
  await nextApproval(system.client, run.id);
  // Only the API is measured: the worker's first sweep over so many runs would disturb the figures.
  await worker.signal('SIGTERM');
  const redis = new Redis(system.redis.address);
  await copyRun(redis, run.id, runs - 1);
  redis.disconnect();
  return system;
}

async function ask(system: System, path: string): Promise<number> {
  const from = performance.now();
  const response = await fetch(`${system.api.url()}${path}`, { headers: { authorization: `Bearer ${system.key}` } });
  await response.arrayBuffer();
  if (!response.ok) throw new Error(`${path}: ${response.status}`);
  return performance.now() - from;
}

function at(values: readonly number[], q: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length * q)] ?? Number.NaN;
}
function shown(values: readonly number[]): string {
  const figures = [0.5, 0.1, 0.9].map((q) => at(values, q).toFixed(1));
  return `${figures[0]} (${figures[1]}–${figures[2]})`.padEnd(18);
}
