import type { Held } from './cgroup/cgroups.ts';
import type { Limits } from './port.ts';
import { type HostMemory, hostMemory } from './process/host-memory.ts';
import { memoryUse } from './process/memory-use.ts';
import type { Tree, TreeEnd } from './tree.ts';
import { HeldFiles } from './workspace-size/held-files.ts';
import type { Size, WalkClosed, WorkspaceSizes } from './workspace-size/sizes.ts';

/** How often a running command is looked at. One look takes about 0.2 ms, the walk of a large workspace aside. */
const PERIOD_MS = 100;

interface Breach {
  status: 'quota';
  quota: 'cpu' | 'memory' | 'workspace' | 'processes';
  limit: number;
}

export interface Watch {
  /** To be called when the tree has ended, with how. The first breach, whether it was seen before or only now. */
  end(end: TreeEnd): Promise<Breach | null>;
  /** Stops looking. */
  stop(): void;
}

export interface WatchInput {
  tree: Tree;
  /** Host path of the workspace. */
  path: string;
  limits: Limits;
  /** Size of the workspace before the tree was started. Undefined: it is measured now. */
  before: Size | undefined;
  /** Called once, at the first breach. */
  onBreach(breach: Breach): void;
}

interface WatchDeps {
  sizes: WorkspaceSizes;
  driver: { walkClosed?: WalkClosed; readonly held: Held | null };
  /** Milliseconds of a clock that only goes forward. */
  now(): number;
}

/** Looks at the bounds that hold for a command as a whole, which nobody tells us about when they are passed. */
export function watch(deps: WatchDeps, input: WatchInput): Watch {
  const { tree, limits } = input;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  const beginning: Promise<Beginning> = Promise.all([
    input.before ?? size(deps, input, Number.POSITIVE_INFINITY),
    hostMemory(),
  ]).then(([before, memory]) => ({ ...before, memory }));
  const files = new HeldFiles(input.path, deps.now);
  const bytesBreach = async (): Promise<Breach | null> => spaceBreach(deps, input, { files, before: await beginning });
  const look = async (): Promise<void> => {
    const breach = await bytesBreach();
    if (stopped) return;
    if (breach) input.onBreach(breach);
    else again();
  };
  let looking: Promise<void> = beginning.then(() => {});
  const again = () => {
    timer = setTimeout(() => {
      looking = look();
    }, PERIOD_MS);
  };
  void looking.then(() => {
    if (!stopped) again();
  });
  // Apart from the other look, which takes seconds where a bomb of processes leaves the worker little of the processors.
  const counting = setInterval(() => {
    const breach = usageBreach(tree, limits);
    if (breach) input.onBreach(breach);
  }, PERIOD_MS);
  const stop = () => {
    stopped = true;
    clearInterval(counting);
    clearTimeout(timer);
  };
  return {
    stop,
    async end(end) {
      stop();
      await looking;
      return usageBreach(tree, limits, end) ?? (await bytesBreach());
    },
  };
}

/** What there was before the command did anything. */
interface Beginning extends Size {
  memory: HostMemory;
}

/**
 * A workspace that is too large already is measured before the command starts, or what the command adds meanwhile would count as there
 * before. Others are measured while it starts.
 */
export async function sizeBefore(
  { sizes, driver: { walkClosed } }: WatchDeps,
  input: Pick<WatchInput, 'path' | 'limits'>,
): Promise<Size | undefined> {
  const { path, limits } = input;
  const limit = limits.workspace_bytes;
  if (!sizes.wasOver(path, limit)) return undefined;
  return await sizes.measure({ path, limit, enough: Number.POSITIVE_INFINITY, walkClosed });
}

/** @param end how it ended; absent while it runs */
function usageBreach(tree: Tree, limits: Limits, end?: TreeEnd): Breach | null {
  const usage = tree.usage();
  if (!usage) return null;
  const quota = (name: Breach['quota'], limit: number): Breach => ({ status: 'quota', quota: name, limit });
  if (usage.memory_kills > 0) return quota('memory', limits.memory_bytes);
  if (usage.cpu_ms > limits.cpu_total_seconds * 1000) return quota('cpu', limits.cpu_total_seconds);
  // Being refused a process is no harm to a program that copes with it. A bomb does not, nor does one that fails.
  const refused = usage.refused_processes;
  const failed = end?.status === 'exited' && end.exit_code !== 0;
  if (refused > limits.processes || (refused > 0 && failed)) return quota('processes', limits.processes);
  return null;
}

async function spaceBreach(
  deps: WatchDeps,
  input: WatchInput,
  { files, before }: { files: HeldFiles; before: Beginning },
): Promise<Breach | null> {
  const limit = input.limits.workspace_bytes;
  const now = await size(deps, input, before.bytes > limit ? Number.POSITIVE_INFINITY : limit);
  const processes = input.tree.processes();
  const { memory_bytes } = input.limits;
  const host = deps.driver.held?.memory ? before.memory : await hostMemory();
  const held = await files.look({
    ...{ processes, free: now.free, room: limit - now.bytes },
    ...{ available: host.available, memory: memory_bytes },
  });
  // Where it holds what cannot be counted, all that the disk has lost since it began counts as its own.
  const lost = held.uncounted.disk || now.closed ? before.bytes + before.free - now.free : 0;
  const bytes = Math.max(now.bytes + held.disk, lost);
  // a workspace that was too large before can still be cleaned up
  if (bytes > limit && bytes > before.bytes) return { status: 'quota', quota: 'workspace', limit };
  if (deps.driver.held?.memory || processes.length === 0) return null;
  const memory = await memoryUse({ processes, limit: memory_bytes, held, before: before.memory, now: host });
  return memory > memory_bytes ? { status: 'quota', quota: 'memory', limit: memory_bytes } : null;
}

function size(
  { sizes, driver: { walkClosed } }: WatchDeps,
  { path, limits }: WatchInput,
  enough: number,
): Promise<Size> {
  return sizes.measure({ path, limit: limits.workspace_bytes, enough, walkClosed });
}
