import type { Json } from './tool.ts';
import type { Touches } from './touches.ts';
import type { Effect, Problem, Risk } from './vocabulary.ts';

/** What is known of a call before it runs, by its arguments, the settings and the modes of its run: policies judge it by this. */
export type CallDescription =
  | {
      ok: true;
      /** Parsed, with defaults: JSON, as the log keeps them. */
      args: Json;
      effect: Effect;
      risk: Risk;
      gate?: 'input' | undefined;
      /** It keeps its place among the calls of its turn as one that writes does. */
      sequential?: true | undefined;
      /** It can run beside other calls of its turn, as a background command. */
      beside?: true | undefined;
      touches: Touches;
      /** The tool may have a question when it sees the workspace. */
      looks?: true | undefined;
      /** The tool brings rules of the network for its calls, so an approval opens their hosts in every run. */
      reaches?: true | undefined;
    }
  /** `issues`: what is wrong with the arguments, by JSON pointer. */
  | { ok: false; error: Problem; issues: readonly { pointer: string; detail: string }[] };
