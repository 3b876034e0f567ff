import { setTimeout as delay } from 'node:timers/promises';
import type { ProcessLimits } from '@holdpoint/contract';
import type { CgroupLimits } from './cgroup/cgroups.ts';
import { type MeasuredUse, openCommandUse } from './process/command-use.ts';
import { type HostMemory, hostMemory, memoryUse } from './process/memory-use.ts';
import type { Tree, TreeEnd } from './tree.ts';
import { freeBytes, type Size, type WalkUnreadable, type WorkspaceSizes } from './workspace-size/sizes.ts';
import { UnlinkedUsageSampler } from './workspace-size/unlinked-sampler.ts';

/** Interval of the checks of a running command. A check takes about 0.2 ms, without the walk of a large workspace. */
const pollMs = 100;
/** A command may add 1/64 of the limit before the size of its tree is known. */
const unmeasuredShare = 64;

interface LimitBreach {
  status: 'quota';
  quota: 'cpu' | 'memory' | 'workspace' | 'processes';
  limit: number;
}

export interface Watch {
  /** Call `end` when the tree has ended. Returns the first breach, even if the breach shows only after the end. */
  end(end: TreeEnd): Promise<LimitBreach | null>;
  /** Stops the checks. */
  stop(): void;
  /** The command's measured CPU time and memory. */
  used(): MeasuredUse;
}

export interface WatchInput {
  tree: Tree;
  /** Host path of the workspace. */
  path: string;
  limits: ProcessLimits;
  /** Size of the workspace before the start of the tree. When undefined, the watch measures the size at once. */
  before: Size | Promise<Size> | undefined;
  /** Called at the first breach. */
  onBreach(breach: LimitBreach): void;
}

interface WatchDeps {
  sizes: WorkspaceSizes;
  driver: { walkUnreadable?: WalkUnreadable; readonly cgroupLimits: CgroupLimits | null };
  /** Monotonic clock in milliseconds. */
  now(): number;
  /** Free bytes of the disk with a path. @default those that the file system reports: other programs change them too */
  free?: (path: string) => number;
}

/** Polls the limits of a whole command: the kernel sends no event for these limits. */
export function watch(deps: WatchDeps, input: WatchInput): Watch {
  const { tree, limits, path } = input;
  const { free = freeBytes } = deps;
  const freeBefore = free(path);
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  const beginning: Promise<Beginning> = Promise.all([
    input.before ?? size(deps, input, Number.POSITIVE_INFINITY),
    deps.driver.cgroupLimits?.memory ? null : hostMemory(),
  ]).then(([before, memory]) => ({ ...before, memory }));
  const files = new UnlinkedUsageSampler(path, deps.now);
  const findSpaceBreach = async (): Promise<LimitBreach | null> =>
    spaceBreach(deps, input, { files, before: await beginning });
  const check = async (): Promise<void> => {
    const breach = await findSpaceBreach();
    if (stopped) return;
    if (breach) input.onBreach(breach);
    else schedule();
  };
  let checking: Promise<void> = beginning.then(() => {});
  const schedule = () => {
    timer = setTimeout(() => {
      checking = check();
    }, pollMs);
  };
  void checking.then(() => {
    if (!stopped) schedule();
  });
  // Separate from the check of space, because a check of space takes seconds when a fork bomb leaves the worker little CPU time.
  const use = openCommandUse(tree);
  const counting = setInterval(() => {
    use.sample();
    const breach = usageBreach(tree, limits);
    if (breach) input.onBreach(breach);
  }, pollMs);
  const stop = () => {
    stopped = true;
    clearInterval(counting);
    clearTimeout(timer);
  };
  return {
    stop,
    used: () => use.end(),
    async end(end) {
      stop();
      const wroteLittle = () => freeBefore - free(path) <= limits.workspace_bytes / unmeasuredShare;
      if (!(await isKnown(beginning)) && wroteLittle()) return usageBreach(tree, limits, end);
      await checking;
      return usageBreach(tree, limits, end) ?? (await findSpaceBreach());
    },
  };
}

/**
 * Whether the size of the tree is known within `pollMs`. The first measurement of 100,000 files takes seconds, and continues after the
 * command's end. Only a command with many written bytes waits for the result, because the command may have exceeded the limit.
 */
async function isKnown(beginning: Promise<Beginning>): Promise<boolean> {
  const waited = new AbortController();
  const late = delay(pollMs, false, { signal: waited.signal }).catch(() => false);
  return await Promise.race([beginning.then(() => true), late]).finally(() => waited.abort());
}

/** The state before the command begins. */
interface Beginning extends Size {
  /** Null when the control group counts the command's memory. */
  memory: HostMemory | null;
}

type Place = Pick<WatchInput, 'path' | 'limits'>;

/**
 * Measures a workspace over its limit before the command starts, so files added by the command do not count as earlier files. Other
 * workspaces are measured during the start, by `sizeAtStart`.
 */
export async function sizeBefore(deps: WatchDeps, place: Place): Promise<Size | undefined> {
  if (!deps.sizes.wasOver(place.path, place.limits.workspace_bytes)) return undefined;
  return await size(deps, place, Number.POSITIVE_INFINITY);
}

/**
 * Begins to measure a workspace, directly before the start of a command. The first 200 entries are counted when the function returns, so
 * the early writes of a command in a small tree add nothing to the size. The caller who awaits the promise gets the failure.
 */
export function sizeAtStart(deps: WatchDeps, place: Place): Promise<Size> {
  const measured = size(deps, place, Number.POSITIVE_INFINITY);
  measured.catch(() => {});
  return measured;
}

/** @param end undefined while the tree runs */
function usageBreach(tree: Tree, limits: ProcessLimits, end?: TreeEnd): LimitBreach | null {
  const usage = tree.usage();
  if (!usage) return null;
  const quota = (name: LimitBreach['quota'], limit: number): LimitBreach => ({ status: 'quota', quota: name, limit });
  if (usage.memory_kills > 0) return quota('memory', limits.memory_bytes);
  if (usage.cpu_ms > limits.cpu_total_seconds * 1000) return quota('cpu', limits.cpu_total_seconds);
  // Some programs cope with refused forks, so a few refusals are no breach. Fork bombs and failed programs did not cope.
  const refused = usage.refused_processes;
  const failed = end?.status === 'exited' && end.exit_code !== 0;
  if (refused > limits.processes || (refused > 0 && failed)) return quota('processes', limits.processes);
  return null;
}

async function spaceBreach(
  deps: WatchDeps,
  input: WatchInput,
  { files, before }: { files: UnlinkedUsageSampler; before: Beginning },
): Promise<LimitBreach | null> {
  const limit = input.limits.workspace_bytes;
  const now = await size(deps, input, before.bytes > limit ? Number.POSITIVE_INFINITY : limit);
  const processes = input.tree.processes();
  const { memory_bytes } = input.limits;
  const host = before.memory === null ? null : await hostMemory();
  const unlinked = await files.sample({
    ...{ processes, free: now.free, remaining: limit - now.bytes },
    ...{ available: host?.available ?? 0, memory: memory_bytes },
  });
  // When the command uses uncountable space, the command is charged with all space lost on the disk since its beginning.
  const lost = unlinked.uncounted.disk || now.unreadable ? before.bytes + before.free - now.free : 0;
  const bytes = Math.max(now.bytes + unlinked.disk, lost);
  // A command may still shrink a workspace already over its limit.
  if (bytes > limit && bytes > before.bytes) return { status: 'quota', quota: 'workspace', limit };
  if (before.memory === null || host === null || processes.length === 0) return null;
  const memory = await memoryUse({ processes, limit: memory_bytes, unlinked, before: before.memory, now: host });
  return memory > memory_bytes ? { status: 'quota', quota: 'memory', limit: memory_bytes } : null;
}

function size(
  { sizes, driver: { walkUnreadable } }: WatchDeps,
  { path, limits }: Place,
  enough: number,
): Promise<Size> {
  return sizes.measure({ path, limit: limits.workspace_bytes, enough, walkUnreadable });
}
