import type { ToolOutcome } from '@holdpoint/contract';
import type { PastTurn, PlannerInput } from '@holdpoint/engine/worker';
import { AgentError, type AgentProcess, type CallAgain, type Performed } from '@holdpoint/outside-agents';
import { z } from 'zod';
import { type AgentDeps, begin, readStory, reasonOf, whyOver } from './agent-planner.ts';

/** A step whose call the agent makes with its own tool. */
export interface OwnStep {
  runId: string;
  stepId: string;
  tool: string;
  /** The arguments to run: those of the call, or of a person's edit. */
  args: unknown;
  /** The longest time of the call, in milliseconds. */
  wallMs: number;
  signal: AbortSignal;
}

/**
 * Makes a call of an outside agent with the agent's own tool: the agent that waits with the call is released; where none waits in this worker, one is started
 * from its session in the log and asks for the call again. The outcome is the agent's report.
 */
export async function makeOwnCall(
  deps: AgentDeps,
  planning: (runId: string) => Promise<PlannerInput | undefined>,
  step: OwnStep,
): Promise<ToolOutcome> {
  const input = await planning(step.runId);
  const known = (await input?.previous())?.find(({ id }) => id === step.stepId);
  if (input === undefined || known?.call_id === undefined) return notHere(step.tool);
  try {
    const waiting = deps.agents.find(step.runId);
    const id = known.call_id;
    const agent = waiting?.canPerform(id) ? waiting : await startFor(deps, input, id, waiting);
    return await performed(agent, id, step);
  } catch (error) {
    if (error instanceof AgentError && !step.signal.aborted) throw asInterruption(input, error);
    throw error;
  }
}

/** Ends the agent when its call is canceled or takes too long: no process of the call outlives it. */
async function performed(
  agent: AgentProcess,
  id: string,
  { args, wallMs, signal, tool }: OwnStep,
): Promise<ToolOutcome> {
  let isLate = false;
  const end = () => void agent.end();
  const timer = setTimeout(() => {
    isLate = true;
    end();
  }, wallMs);
  signal.addEventListener('abort', end, { once: true });
  try {
    signal.throwIfAborted();
    return toOutcome(await agent.perform(id, args));
  } catch (error) {
    await agent.end();
    if (!isLate) throw error;
    return {
      status: 'timed_out',
      error: { code: 'ETIMEOUT', message: `${tool} took longer than ${wallMs / 1000} s.` },
    };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', end);
  }
}

const toOutcome = (made: Performed): ToolOutcome => ({ ...made });

async function startFor(
  deps: AgentDeps,
  input: PlannerInput,
  id: string,
  waiting: AgentProcess | undefined,
): Promise<AgentProcess> {
  await waiting?.end();
  const story = await readStory(deps, input);
  const again = askedCall(story.turns.at(-1), id);
  if (again === undefined) throw new AgentError(`The log has no call ${id} of the agent.`);
  const agent = await begin(deps, input, { ...story, words: [] }, again);
  try {
    await agent.askedAgain((used) => whyOver(deps, input, used));
  } catch (error) {
    await agent.end();
    throw error;
  }
  deps.agents.keep(input.runId, agent);
  return agent;
}

const answerSchema = z.object({ calls: z.array(z.object({ id: z.string(), tool: z.string(), args: z.json() })) });

/** The call as the agent asked for it: a person may have edited the call of the step. */
const askedCall = (turn: PastTurn | undefined, id: string): CallAgain | undefined =>
  answerSchema.safeParse(turn?.answer).data?.calls.find((call) => call.id === id);

/** An attempt without an outcome: the tree goes back to the snapshot before the call, and another attempt follows, or the run pauses. */
function asInterruption(input: PlannerInput, error: AgentError): Error {
  const { code, message, next } = reasonOf(input, error);
  return Object.assign(new Error(message, { cause: error }), { code, next, retryable: code === 'EAGENTFAILED' });
}

const notHere = (tool: string): ToolOutcome => ({
  status: 'failed',
  error: {
    code: 'ENOAGENT',
    message: `${tool} is a tool of the agent itself, and its agent does not wait for this call.`,
    next: 'The result of such a call cannot be shown in advance. Decide on its arguments.',
  },
  touched: [],
});
