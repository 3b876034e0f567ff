import { setTimeout as delay } from 'node:timers/promises';
import type { ProcessLimits } from '@holdpoint/contract';
import type { Usage } from './cgroup/cgroup-dir.ts';
import type { CgroupLimits } from './cgroup/cgroups.ts';
import { resolveLimits } from './limits.ts';
import { startTree } from './run-command.ts';
import type { Driver, WorkspaceMount } from './tree.ts';

const mib = 1024 * 1024;
const pollMs = 5;

/**
 * Without an enforced limit each trial ends by itself after a fixed amount of work, so a busy host slows the trial but does not change the
 * result. An enforced limit usually shows within 0.2 s.
 */
interface Trial {
  line: string;
  limits: Partial<ProcessLimits>;
  isEnforced(usage: Usage): boolean;
}

const trials: Record<keyof CgroupLimits, Trial> = {
  memory: {
    line: `printf -v hog '%*s' ${64 * mib} ''`,
    limits: { memory_bytes: 32 * mib },
    isEnforced: (usage) => usage.memory_kills > 0,
  },
  processes: {
    // bash would retry for 15 s.
    line: "exec /bin/sh -c '(:); :'",
    limits: { processes: 1 },
    isEnforced: (usage) => usage.refused_processes > 0,
  },
  cpu: {
    line: 'while :; do :; done',
    // The smallest possible share: on a busy host a command may get only a few percent anyway.
    limits: { cpu_percent: 1, cpu_seconds: 1 },
    isEnforced: (usage) => usage.throttled_periods > 0 && usage.cpu_ms > 0,
  },
};

/** Exceeds each limit claimed by the driver, and checks whether the kernel enforces the limit. */
export async function probeCgroupLimits(
  deps: { driver: Driver; signal: AbortSignal },
  workspace: WorkspaceMount,
): Promise<CgroupLimits> {
  const { cgroupLimits } = deps.driver;
  const test = async (name: keyof CgroupLimits) =>
    cgroupLimits?.[name] === true && (await runTrial(deps, trials[name], workspace));
  const [memory, processes, cpu] = await Promise.all([test('memory'), test('processes'), test('cpu')]);
  return { memory, processes, cpu };
}

async function runTrial(
  { driver, signal }: { driver: Driver; signal: AbortSignal },
  { line, limits, isEnforced }: Trial,
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
      hostFiles: null,
    },
    limits: resolveLimits(limits),
  });
  for (const stream of [tree.stdout, tree.stderr]) stream.on('error', () => {}).resume();
  const wasEnforced = () =>
    isEnforced(
      tree.usage() ?? { memory_kills: 0, refused_processes: 0, cpu_ms: 0, memory_peak_bytes: 0, throttled_periods: 0 },
    );
  let ended = false;
  const end = tree.ended.finally(() => {
    ended = true;
  });
  try {
    while (!ended && !wasEnforced() && !signal.aborted) await delay(pollMs);
  } finally {
    tree.kill();
    await end;
  }
  return wasEnforced();
}
