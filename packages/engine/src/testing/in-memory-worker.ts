import { join } from 'node:path';
import type { Json, SettledCall, ToolsetRules } from '@holdpoint/contract';
import type { WorkerDeps } from '../deps.ts';
import { newId } from '../domain/new-id.ts';
import { openOutputStore } from '../outputs/output-store.ts';
import { scriptedPlanner } from '../planning/scripted.ts';
import type { ToolCatalog } from '../ports/index.ts';
import type { Faults } from './faults.ts';
import { argsOf, inMemoryExecutor } from './in-memory-executor.ts';
import { type InMemoryTrees, openInMemoryTrees } from './in-memory-trees.ts';
import type { TestEngine } from './real-redis.ts';

/** Tools whose effects can be counted: `args.effect` says what a call may change, the other arguments what it does. */
export interface InMemoryWorker extends Pick<InMemoryTrees, 'tree' | 'treeOf' | 'dropped' | 'published' | 'previews'> {
  deps: WorkerDeps;
  /** Every execution, whether its outcome was recorded or not. */
  executions: { stepId: string; attempt: number }[];
}

/** The engine with an executor and a workspace that live in memory: for tests of the engine itself. */
export function inMemoryWorker(engine: TestEngine, faults: Faults = {}): InMemoryWorker {
  const { workspaces, current, ...trees } = openInMemoryTrees(faults);
  const executions: InMemoryWorker['executions'] = [];
  const deps: WorkerDeps = {
    ...engine.deps,
    newId,
    workerId: 'test-worker',
    retention: {},
    confirmInstallation: async () => {},
    planners: { scripted: scriptedPlanner, model: { next: async () => ({ kind: 'finish', message: 'done' }) } },
    outputs: openOutputStore(join(engine.directory, 'outputs')),
    metrics: { repaired: () => {} },
    catalog: inMemoryCatalog(faults),
    executor: inMemoryExecutor(engine.deps, faults, { workspaces, current, ...trees }, executions),
    workspaces,
  };
  return { deps, executions, ...trees };
}

const nothingSaid: ToolsetRules = { rules: [], asks: [] };

/** As the toolset holdpoint presents. */
const plain = ({ status, value, error }: SettledCall): Json =>
  status === 'succeeded' ? (value ?? null) : JSON.parse(JSON.stringify({ status, error, value }));

export const inMemoryCatalog = (faults: Faults): ToolCatalog => ({
  versions: () => ({ count: faults.version ?? '1' }),
  rules: () => faults.rules ?? nothingSaid,
  present: (_, call) => (faults.present ?? plain)(call),
  checkSettings: (_, settings) => ({ ok: true, settings: { ...settings } }),
  grants: () => ({ protected: [], shells: ['execute'] }),
  taskTools: () => faults.taskTools ?? { waits: 'wait_for', ends: 'end_task' },
  answer: (_, words) => ({ value: { answer: words } }),
  advisory: () => faults.advisory ?? {},
  instructions: () => undefined,
  describe({ tool, args }) {
    if (tool !== 'count') {
      return { ok: false, error: { code: 'EUNKNOWNTOOL', message: `no tool ${tool}` }, issues: [] };
    }
    const { effect, gate, kills, shell } = argsOf({ args });
    const beside = shell === undefined ? undefined : true;
    const touches = { paths: [], hosts: [] };
    const sequential = kills === undefined && gate !== 'plan' ? undefined : true;
    return { ok: true, args, effect, risk: 'low', gate, sequential, beside, touches, looks: faults.asks && true };
  },
});
