import type { Json } from './tool.ts';
import type { Touches } from './touches.ts';
import type { Effect, Problem, Risk } from './vocabulary.ts';

/** Why a call always waits for a person: it is a question, or the plan of a run in plan mode. */
export type CallGate = 'input' | 'plan';

/**
 * The facts about a call before the call runs, from its arguments, the settings and the modes of its run: policies judge the call by these
 * facts.
 */
export type CallDescription =
  | {
      ok: true;
      /** Parsed, with defaults: JSON, as the log keeps them. */
      args: Json;
      effect: Effect;
      risk: Risk;
      gate?: CallGate | undefined;
      /** Keeps the call in the order of its turn, as if the call wrote. */
      sequential?: true | undefined;
      /** Runs concurrently with other calls of the turn, as a background command does. */
      beside?: true | undefined;
      touches: Touches;
      /** The tool may ask a question after it has read the workspace. */
      looks?: true | undefined;
      /** The tool brings rules of the network for its calls, so an approval opens their hosts in every run. */
      reaches?: true | undefined;
    }
  /** `issues`: the mistakes in the arguments, by JSON pointer. */
  | { ok: false; error: Problem; issues: readonly { pointer: string; detail: string }[] };
