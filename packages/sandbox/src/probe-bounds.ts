import { setTimeout as delay } from 'node:timers/promises';
import type { Held } from './cgroup/cgroups.ts';
import type { Usage } from './cgroup/files.ts';
import { resolveLimits } from './limits.ts';
import type { Limits, WorkspaceMount } from './port.ts';
import { startTree } from './run-command.ts';
import type { Driver } from './tree.ts';

const MIB = 1024 * 1024;
const LOOK_MS = 5;

/**
 * Each trial ends by itself when its bound does not hold, after work of a known size. So a busy host makes it slower and does not change the
 * verdict. Usually a bound strikes within 0.2 s.
 */
interface Trial {
  line: string;
  limits: Partial<Limits>;
  struck(usage: Usage): boolean;
}

const trials: Record<keyof Held, Trial> = {
  memory: {
    line: `printf -v hog '%*s' ${64 * MIB} ''`,
    limits: { memory_bytes: 32 * MIB },
    struck: (usage) => usage.memory_kills > 0,
  },
  processes: {
    // not bash, which tries again for 15 s
    line: "exec /bin/sh -c '(:); :'",
    limits: { processes: 1 },
    struck: (usage) => usage.refused_processes > 0,
  },
  cpu: {
    line: 'while :; do :; done',
    // The smallest share there is: on a busy host a command may not get more than a few percent to begin with.
    limits: { cpu_percent: 1, cpu_seconds: 1 },
    struck: (usage) => usage.throttled_periods > 0 && usage.cpu_ms > 0,
  },
};

/** Passes each bound that the driver says it has, and looks whether it strikes. */
export async function probeBounds(
  deps: { driver: Driver; signal: AbortSignal },
  workspace: WorkspaceMount,
): Promise<Held> {
  const { held } = deps.driver;
  const holds = async (name: keyof Held) => held?.[name] === true && (await strikes(deps, trials[name], workspace));
  const [memory, processes, cpu] = await Promise.all([holds('memory'), holds('processes'), holds('cpu')]);
  return { memory, processes, cpu };
}

async function strikes(
  { driver, signal }: { driver: Driver; signal: AbortSignal },
  { line, limits, struck }: Trial,
  workspace: WorkspaceMount,
): Promise<boolean> {
  const tree = startTree(driver, {
    ...{
      workspace,
      label: null,
      argv: ['/bin/bash', '-c', line],
      cwd: '.',
      env: {},
      egress: null,
      stdin: null,
      toolHost: false,
    },
    limits: resolveLimits(limits),
  });
  for (const stream of [tree.stdout, tree.stderr]) stream.on('error', () => {}).resume();
  const hasStruck = () =>
    struck(tree.usage() ?? { memory_kills: 0, refused_processes: 0, cpu_ms: 0, throttled_periods: 0 });
  let ended = false;
  const end = tree.ended.finally(() => {
    ended = true;
  });
  try {
    while (!ended && !hasStruck() && !signal.aborted) await delay(LOOK_MS);
  } finally {
    tree.kill();
    await end;
  }
  return hasStruck();
}
