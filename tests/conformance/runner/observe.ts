import type { StepDetail } from '@holdpoint/contract/wire';
import type { Case, Expect } from './case.ts';
import { changedPaths, digestTree } from './digest-tree.ts';
import { type FileState, readState } from './file-state.ts';
import type { Observed } from './judge.ts';
import { leaksOf } from './leaks.ts';
import { leftOf } from './leftovers.ts';
import { specialOf } from './special/index.ts';
import type { Made, Scene } from './special/special.ts';

/** Where a case stands on the host. */
export interface Place {
  source: string;
  outside: string;
  /** The content of `outside` before the call. */
  before: ReadonlyMap<string, string>;
}

/** Gathers the traces of a call, and finishes the run: the log is read last. */
export async function observe(
  scene: Scene,
  made: Made,
  { expect, place, tool, hits }: { expect: Expect; place: Place; tool: string; hits: number },
): Promise<Observed> {
  const { bench, run, adapter } = scene;
  const { system } = bench;
  const files = await readAll(tool === '$transaction' ? place.source : system.tree(run.id), expect);
  const leftovers = new Map<string, readonly string[] | undefined>();
  for (const path of expect.pids_dead_from) {
    leftovers.set(path, await leftOf(system, run.id, await readState(system.tree(run.id), path)));
  }
  const rest: Omit<Observed, 'changedOutside' | 'leaks'> = {
    files,
    leftovers,
    native: made.native,
    ok: made.ok,
    errorCode: adapter.errorCode(made.native),
    root: specialOf(tool) ? made.native : adapter.root(made.native),
    approval: { required: isAsked(scene, made.steps), risk: await riskOf(scene, tool) },
    httpHits: hits,
    ms: await runnableToSettled(scene, made.steps),
  };
  await run.finish();
  const changedOutside = changedPaths(place.before, await digestTree(place.outside));
  return { ...rest, changedOutside, leaks: await leaksOf(system, expect.log_not_contains) };
}

const isAsked = ({ decider }: Scene, steps: readonly StepDetail[]): boolean =>
  decider.asked.some(({ step_id }) => steps.some(({ id }) => id === step_id));

async function readAll(root: string, { files }: Expect): Promise<Map<string, FileState>> {
  const states = new Map<string, FileState>();
  for (const path of Object.keys(files)) states.set(path, await readState(root, path));
  return states;
}

/** The contract's own word. */
async function riskOf({ bench, toolset }: Scene, tool: Case['call']['tool']): Promise<string | undefined> {
  const tools = await bench.system.client.listTools({ toolset });
  return tools.find(({ name }) => name === tool)?.label;
}

/** Milliseconds from the first runnable step to the last settled step; NaN when no time was kept. */
async function runnableToSettled({ bench, run }: Scene, steps: readonly StepDetail[]): Promise<number> {
  const ids = new Set(steps.map(({ id }) => id));
  const { data } = await bench.system.client.listEvents(run.id, { limit: 1000 });
  const queued = data.flatMap((event) =>
    event.type === 'step.queued' && ids.has(event.step_id) ? [Date.parse(event.time)] : [],
  );
  const settled = steps.map(({ settled_at }) => Date.parse(settled_at ?? ''));
  const started = queued.length > 0 ? queued : steps.map(({ created_at }) => Date.parse(created_at));
  return Math.max(...settled) - Math.min(...started);
}
