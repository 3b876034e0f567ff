import {
  type AgentSpec,
  type AskedPerson,
  type CallGate,
  type Effect,
  nothingEnforced,
  planSchema,
  type ToolOutcome,
} from '@holdpoint/contract';
import type { Call, ExecutionContext, Executor } from '../ports/index.ts';
import type { Faults } from './faults.ts';
import type { InMemoryTrees } from './in-memory-trees.ts';

/** What a call of `count` does beside counting. */
interface TestArgs {
  effect: Effect;
  gate?: CallGate;
  fail?: boolean;
  /** Number of questions to a person before the call succeeds. Its value has the last answer. */
  questions?: number;
  /** Number of times that the other side is asked for the result, which is never there at first. */
  later?: number;
  /** Returns as `seen` what the workspace held when the call began. */
  looks?: boolean;
  /** Begins a background command with this text as its output. */
  background?: string;
  /** Can run beside other calls of its turn, as a background command. */
  shell?: string;
  /** Begins a sub-agent with this plan, and waits for it. */
  agent?: object;
  /** Begins a sub-agent that asks this model, and waits for it. */
  asks?: string;
  /** The kind of its sub-agent. */
  kind?: string;
  /** How its sub-agent ends. */
  merge?: AgentSpec['merge'];
  on_pause?: AgentSpec['on_pause'];
  /** Does not wait for the sub-agent that it begins. */
  beside?: boolean;
  /** Ids of tasks. */
  awaits?: string;
  merges?: string;
  kills?: string;
  /** The task that gets an input, with its text. The text `end` ends the input. */
  sends?: string;
  text?: string;
  /** The background command has an input. */
  input?: 'pipe';
}

export const argsOf = ({ args }: Pick<Call, 'args'>): TestArgs => args as unknown as TestArgs;

/** @param executions gets one entry per execution */
export function inMemoryExecutor(
  { now }: { now: () => number },
  faults: Faults,
  { treeOf, current }: InMemoryTrees,
  executions: { stepId: string; attempt: number }[],
): Executor {
  return {
    resolvePaths: async (paths) => paths.map((path) => faults.links?.[path] ?? path),
    asks: async (call, { runId }) => faults.asks?.(call, treeOf(runId)),
    async preview(call, { tasks }) {
      const { merges } = argsOf(call);
      if (merges === undefined) return { kind: 'command', command: 'count', cwd: '.', network: [] };
      const shown = await tasks.previewMerge(merges);
      return shown.status === 'ready'
        ? { kind: 'merge', task_id: merges, ...shown }
        : { kind: 'problem', message: shown.problem.message };
    },
    validate: async ({ name = 'validator', command }, { runId }) => ({
      ...{ name, command, detail: null, stdout: '', stdout_bytes: 0, stderr: '', stderr_bytes: 0, duration_ms: 1 },
      ...(treeOf(runId).length >= Number(command)
        ? { status: 'passed', exit_code: 0 }
        : { status: 'failed', exit_code: 1 }),
      capabilities: nothingEnforced,
    }),
    async execute(call, context) {
      const { runId, stepId, attempt, epoch } = context;
      const {
        effect,
        fail,
        looks,
        shell = '',
        background,
        agent,
        asks,
        kind,
        beside,
        merge,
        on_pause,
        awaits,
        merges,
        kills,
        sends,
        text = '',
        input,
        questions = 0,
        later = 0,
      } = argsOf(call);
      executions.push({ stepId, attempt });
      current(runId, epoch);
      if (context.beside) return runBeside(context, shell, now);
      const seen = looks ? { seen: [...treeOf(runId)] } : {};
      if (effect !== 'read' && merges === undefined && context.awaited === undefined) treeOf(runId).push(stepId);
      await faults.execute?.(context);
      const { answered } = context;
      const asksWhileItWorks = context.awaited !== undefined && context.awaited.over === undefined;
      if (later > 0 && !(asksWhileItWorks && (answered?.round ?? 0) < questions))
        return nextAnswer(context, later, now());
      if ((answered?.round ?? 0) < questions) return { status: 'deferred', on: nextQuestion(answered) };
      if (answered !== undefined) return { status: 'succeeded', value: { ...answered } };
      if (background !== undefined) {
        const spec = { command: background, input };
        return {
          status: 'succeeded',
          value: { task_id: context.taskId },
          task: { kind: 'shell', title: background, spec },
        };
      }
      if (agent !== undefined || asks !== undefined) {
        if (context.deferred) {
          const task = await context.tasks.get(context.deferred.task_id);
          const value = { task_id: task?.id, status: task?.status };
          return { status: 'succeeded', value: merge ? { ...value, outcome: task?.outcome } : value };
        }
        const found = kind === undefined ? undefined : await context.tasks.agentKind(kind);
        if (found?.status === 'refused') return { status: 'failed', error: found.problem };
        const { description: _, instructions: system, ...bounds } = found?.kind ?? {};
        const goal: AgentSpec['goal'] =
          asks === undefined
            ? { planner: 'scripted', plan: planSchema.parse(agent) }
            : {
                ...{ planner: 'model', prompt: 'sub', system },
                model: asks === '' ? (found?.kind.model ?? context.model ?? '') : asks,
              };
        const task = {
          kind: 'agent' as const,
          title: 'sub-agent',
          spec: { goal, merge, on_pause, kind: found && (bounds as AgentSpec['kind']) },
        };
        if (beside) return { status: 'succeeded', value: { task_id: context.taskId }, task };
        return { status: 'deferred', until: now() + 3_600_000, on: { task } };
      }
      if (awaits !== undefined) {
        const task = await context.tasks.get(awaits);
        if (!task?.outcome && !context.deferred) {
          return { status: 'deferred', until: now() + 3_600_000, on: { task_id: awaits } };
        }
        return { status: 'succeeded', value: { status: task?.status, outcome: task?.outcome ?? null } };
      }
      if (merges !== undefined) return { status: 'succeeded', value: await context.tasks.merge(merges) };
      if (kills !== undefined) return { status: 'succeeded', value: (await context.tasks.kill(kills)) ?? null };
      if (sends !== undefined) {
        const sent = await context.tasks.send(sends, { text, enter: true, end: text === 'end' });
        return { status: 'succeeded', value: sent ?? null };
      }
      if (fail) return { status: 'failed', error: { code: 'EASKED', message: 'asked to fail' } };
      return { status: 'succeeded', value: { count: executions.length, ...seen } };
    },
    async runTask({ command }, { runId, epoch, taskId, output, inputs, onBegun, signal }) {
      current(runId, epoch);
      onBegun();
      treeOf(runId).push(taskId);
      output.write('stdout', Buffer.from(command));
      await faults.task?.(signal, inputs);
      if (signal.aborted) return { status: 'killed', exit_code: null };
      return { status: 'completed', exit_code: 0 };
    },
    killTask: async () => {},
    toolchains: async () => [],
    prepareKey: async () => undefined,
    async prepare(command, { runId, epoch, signal }) {
      current(runId, epoch);
      treeOf(runId).push(command);
      await faults.task?.(signal, async function* () {});
      const failed = command === 'fail';
      return { succeeded: !failed, exit_code: failed ? 1 : 0, detail: null, output: command, duration_ms: 1 };
    },
  };
}

/** The other side knows the call by the attempt that made it. */
function nextAnswer({ attempt, awaited }: ExecutionContext, later: number, now: number): ToolOutcome {
  const { made = attempt, asked = -1 } = awaited === undefined ? {} : JSON.parse(awaited.outside);
  if (asked + 1 >= later) return { status: 'succeeded', value: { made } };
  return { status: 'deferred', until: now, on: { outside: JSON.stringify({ made, asked: asked + 1 }) } };
}

const nextQuestion = (answered: ExecutionContext['answered']): AskedPerson => ({
  question: {
    ...{ server: 'shop', tool: 'count' },
    requests: [
      { key: 'k', message: 'How many?', fields: [{ type: 'integer', name: 'n', required: true, maximum: 9 }] },
    ],
  },
  state: `after ${answered?.round ?? 0}`,
});

/** As the registry makes it of a tool. */
async function runBeside(
  { tasks, deferred }: ExecutionContext,
  command: string,
  now: () => number,
): Promise<ToolOutcome> {
  if (deferred === undefined) {
    const task = { kind: 'shell' as const, title: command, spec: { command } };
    return { status: 'deferred', until: now() + 3_600_000, on: { task } };
  }
  const task = await tasks.get(deferred.task_id);
  if (task?.status === 'completed') return { status: 'succeeded', value: { task_id: task.id } };
  return {
    status: 'failed',
    error: task?.outcome?.reason ?? { code: 'ETEST', message: `the command ${task?.status}` },
  };
}
