import type { RunSpec } from '@holdpoint/contract';
import type { PlannerInput } from '@holdpoint/engine/worker';
import { runId, type Temporary } from '@holdpoint/workspace/testing';
import { type InstructionSources, instruct } from '../model-planner/instructions/instruct.ts';
import { registry } from './planned-run.ts';

const signal = new AbortController().signal;
const on = Date.UTC(2026, 6, 1);

/** The instructions of a run in temporary workspaces, as its planner writes them. */
export function instructing(
  t: Pick<Temporary, 'workspaces'>,
  base: string,
  spec: RunSpec,
  more: Partial<PlannerInput> = {},
  sources: Partial<InstructionSources> = {},
) {
  const scope = { tenant: 'default', secrets: [{ name: 'TOKEN', as: { env: 'TOKEN' } }] };
  const input: PlannerInput = {
    ...{ runId, spec, base, turn: 1, model: 'test/model', openTasks: 0, unattended: false, scope },
    wouldHold: () => false,
    ...{
      named: async () => undefined,
      previous: async () => [],
      endings: async () => [],
      listOpenTasks: async () => [],
      modelsLeft: {},
      budgets: [],
    },
    history: async () => ({ turns: [], unread: [], notified: [], given: new Set(), news: [], compactions: [] }),
    recordUsed: async () => {},
    readContent: () => Promise.reject(new Error('nothing is kept')),
    ...more,
  };
  const operatorText = 'The operator is careful.';
  const deps = { registry, workspaces: t.workspaces, operatorText, now: () => on, ...sources };
  return instruct(deps, input, { window: undefined, signal });
}

/** The goal of a run with a prompt. */
export const promptGoal = (more: object = {}): RunSpec['goal'] => ({
  planner: 'model',
  model: 'test/model',
  prompt: 'Go.',
  ...more,
});
