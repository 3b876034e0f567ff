import type { Problem } from '@holdpoint/contract';
import type { AskedTurn } from './agent-turn.ts';
import { type AskedCalls, togetherMs } from './asked-calls.ts';
import type { ModelWay } from './model-way/model-way.ts';
import type { ToolUses } from './model-way/tool-uses.ts';

/** For an agent to end after `defer`, and for its model to finish its answer. */
const deferMs = 10_000;

interface HeldAgent {
  calls: Pick<AskedCalls, 'next'>;
  /** What the model asked its agent for. */
  uses: Pick<ToolUses, 'together'>;
  way: Pick<ModelWay, 'isAsked'>;
  agentEnded: Promise<void>;
}

/**
 * A held call should keep no process: the agent ends with the call open. Claude Code can do so for the only call of an answer. In an answer with
 * several calls, the held calls are refused.
 * @returns whether the agent has ended with its call open
 */
export async function holdCall(
  { calls, uses, way, agentEnded }: HeldAgent,
  holds: NonNullable<AskedTurn['holds']>,
): Promise<boolean> {
  const held = calls.next.filter(({ own, ...call }) => own !== undefined && own.error === undefined && holds(call));
  if (held.length === 0) return false;
  for (const until = performance.now() + deferMs; way.isAsked && performance.now() < until; )
    await new Promise((resolve) => setTimeout(resolve, togetherMs));
  for (const { own } of held) {
    const isAlone = calls.next.length === 1 && uses.together(own?.id ?? '') <= 1;
    if (own !== undefined && !isAlone) own.error = callAlone;
  }
  const [alone] = held;
  if (alone?.own === undefined || alone.own.error !== undefined) return false;
  alone.own.defer();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, deferMs, false);
  });
  const hasEnded = await Promise.race([agentEnded.then(() => true), late]);
  clearTimeout(timer);
  return hasEnded;
}

const callAlone: Problem = {
  code: 'ECALLALONE',
  message: 'A person has to decide about this call, and other calls came in the same answer. Nothing of it ran.',
  next: 'Make this call again, alone: as the only call of your answer.',
};
