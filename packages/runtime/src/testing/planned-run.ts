import { isSettled, type Json, limitsSchema, modesSchema, policySchema, type RunSpec } from '@holdpoint/contract';
import type { PastConversation, PlannedCall, PlannerInput, SettledStep } from '@holdpoint/engine/worker';
import type { ModelFacts } from '@holdpoint/models';
import { openSecrets } from '@holdpoint/secrets';
import { createRegistry, everyToolset } from '@holdpoint/tools';
import { WorkspaceError } from '@holdpoint/workspace';
import type { AskDeps } from '../model-planner/after-failure.ts';
import { createModelPlanner } from '../model-planner/model.ts';
import type { CountingModel } from './counting-model.ts';

export const registry = createRegistry(everyToolset);
const secrets = openSecrets({
  environment: {},
  variables: [],
  folder: undefined,
  storeFolder: '/nonexistent',
  key: undefined,
});
const texts = { of: () => ({ run: () => Promise.reject(new Error('no text is worked on')) }), close: async () => {} };
const asking: AskDeps = {
  gate: { enter: async () => ({ kind: 'open', leave: async () => ({ closedMs: 0 }) }) },
  accountOf: () => ({ provider: 'test', digest: 'test' }),
  now: () => 0,
  random: () => 0,
};
const live = { open: () => ({ write: () => {}, end: () => {} }) };
/** What a planner of a test needs beside its model: no secrets, no reader, and no other run that asks. */
export const around = { secrets, live, texts, asking, prices: {} };

export const specOfPrompt = (prompt: string, more: Partial<RunSpec> = {}): RunSpec => ({
  ...{ toolset: 'holdpoint', settings: {}, goal: { planner: 'model', model: 'test/model', prompt } },
  ...{
    source: { type: 'empty' },
    policy: policySchema.parse({}),
    limits: limitsSchema.parse({}),
    network: { allow: [] },
  },
  ...{ protected: [], modes: modesSchema.parse({}), models: [], validators: [], publish: { include_ignored: false } },
  ...{ labels: {}, priority: 'normal' },
  ...more,
});

interface Run {
  model: CountingModel;
  facts?: ModelFacts;
  prompt?: string;
  /** What a call becomes. */
  settle(call: PlannedCall, turn: number): Pick<SettledStep, 'status'> & Partial<SettledStep>;
  /** What people write before a turn. */
  says?(turn: number): string[];
  files?: Record<string, string>;
  fallbacks?: string[];
  /** What the engine warns of before a turn. */
  warns?(turn: number): string | undefined;
  /** Contents named by results, by their SHA-256. */
  contents?: Record<string, Buffer>;
}

/** A run of the model planner without an engine: the log is a list in memory. Each turn reads its history as another process would. */
export function plannedRun({
  model,
  facts = { source: 'unknown' },
  prompt = 'Do it.',
  settle,
  says,
  files = {},
  fallbacks,
  warns,
  contents = {},
}: Run) {
  const log: PastConversation = { turns: [], unread: [], compactions: [], notified: [], given: new Set(), news: [] };
  const given = new Set<string>();
  const paths = Object.keys(files);
  const workspaces = {
    listing: async () => ({
      since: null,
      entries: paths.map((path) => ({ path, oid: path, isLink: false })),
    }),
    recentCommits: async () => [],
    diffStat: async () => ({ files: [], left_out: [] }),
    read: () => Promise.reject(new WorkspaceError('EPATHMISSING', 'no tree')),
    locate: async () => Promise.reject(new Error('no tree')),
    newestEpoch: async () => 1,
    ignored: async () => new Set<string>(),
    compare: async () => ({ changes: [], total: 0 }),
    async contents({ oids, onContent }: { oids: readonly string[]; onContent: (read: never) => Promise<void> }) {
      for (const [index, oid] of oids.entries()) {
        const content = Buffer.from(files[oid] ?? '');
        await onContent({ index, bytes: content.byteLength, content } as never);
      }
    },
  };
  const planner = createModelPlanner({
    ...{ ...around, model, registry, workspaces },
    describe: () => facts,
    now: () => 0,
  });
  const goal = { planner: 'model' as const, model: 'test/model', prompt, ...(fallbacks && { fallbacks }) };
  const spec = specOfPrompt(prompt, { goal });
  const signal = new AbortController().signal;
  const used: Parameters<PlannerInput['recordUsed']>[0][] = [];
  const input = (): PlannerInput => ({
    ...{ runId: 'run_1', spec, turn: (log.turns.at(-1)?.turn ?? 0) + 1, base: 'base', model: 'test/model' },
    ...{
      budgets: [],
      openTasks: 0,
      listOpenTasks: async () => [],
      modelsLeft: {},
      wouldHold: () => false,
      unattended: false,
      scope: { tenant: 'default', secrets: [] },
    },
    warned: warns?.((log.turns.at(-1)?.turn ?? 0) + 1),
    named: async () => undefined,
    previous: async () => [],
    endings: async () => [],
    // Copies, as a process has that just started.
    history: async () => structuredClone({ ...visible(log), given }),
    recordUsed: async (one) => void used.push(one),
    readContent: async (sha256) => contents[sha256] ?? Promise.reject(new Error('there is no such content')),
  });
  return {
    log,
    spec,
    /** The tokens of requests without an answer. */
    used,
    /** Asks once more for the last turn, as a process that was killed before it recorded the answer. */
    async planLastAgain(): Promise<void> {
      const last = log.turns.pop();
      log.unread.push(...(last?.readMessages ?? []));
      log.notified.push(...(last?.notified ?? []));
      await planner.next(input(), signal);
    },
    /** Plans and settles turns until the model ends or so many were planned. @returns the last message */
    async run(turns: number): Promise<string | undefined> {
      for (let planned = 0; planned < turns; ) {
        const turn = (log.turns.at(-1)?.turn ?? 0) + 1;
        if (log.unread.length === 0) log.unread.push(...(says?.(turn) ?? []));
        const decision = await planner.next(input(), signal);
        if (decision.kind === 'instructed') log.instructed = decision.instructed;
        else if (decision.kind === 'notified') {
          log.notified.push(decision.notified.text);
          for (const { kind, about } of decision.notified.notices) given.add(`${kind} ${about}`);
        } else if (decision.kind === 'compacted') log.compactions.push({ ...decision.compacted, before_turn: turn });
        else if (!('message' in decision)) throw new Error(`the model was not asked: ${decision.kind}`);
        else {
          const calls = decision.kind === 'calls' ? decision.calls : [];
          const steps = calls.map((call, at): SettledStep => {
            const { tool, args, call_id } = call;
            return { id: `step_${turn}_${at}`, tool, args, call_id, ...settle(call, turn) };
          });
          const { message, answer } = decision;
          const readMessages = log.unread.splice(0);
          log.turns.push({
            turn,
            message,
            answer: asLogged(answer),
            steps,
            warned: warns?.(turn),
            readMessages,
            notified: log.notified.splice(0),
            at: new Date(0).toISOString(),
          });
          planned += 1;
          if (decision.kind !== 'calls') return message;
        }
      }
      return undefined;
    },
  };
}

/** As the engine gives it back. */
function visible({ turns, ...log }: PastConversation): PastConversation {
  const through = log.compactions.findLast(({ how }) => how === 'summarised')?.through_turn ?? 0;
  return {
    ...log,
    turns: turns.filter(({ turn, steps }) => turn > through && steps.every(({ status }) => isSettled(status))),
  };
}

const asLogged = (answer: Json | undefined): Json | undefined =>
  answer === undefined ? undefined : JSON.parse(JSON.stringify(answer));
