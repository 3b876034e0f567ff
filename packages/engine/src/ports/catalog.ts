import type { Effect, Json, Problem, Risk, Touches } from '@holdpoint/contract';

export interface Call {
  toolset: string;
  tool: string;
  args: Json;
}

export type Description =
  /** `sequential`: it keeps its place among the calls of its turn as one that writes does. */
  | {
      ok: true;
      args: Json;
      effect: Effect;
      risk: Risk;
      gate?: 'input';
      sequential?: true;
      /** It can run beside other calls of its turn, as a background command. */
      beside?: true;
      /** When absent, a policy can match the tool and its effect only. */
      touches?: Touches;
      /** The tool may have a question when it sees the workspace: `Executor.asks`. */
      looks?: true;
    }
  /** `issues`: what is wrong with the arguments, by JSON pointer. */
  | { ok: false; error: Problem; issues?: readonly { pointer: string; detail: string }[] };

/** Which tools there are and what a call of them would be. Pure: touches no workspace. */
export interface ToolCatalog {
  /**
   * @param call.network whether the run's tools may reach anything outside: a command that can is an external effect
   * @param call.unattended the call is a sub-agent's: no person answers questions
   */
  describe(call: Call & { network: boolean; unattended?: boolean }): Description;
  /** The version of each tool of a toolset: a short digest of what a call of it must look like. */
  versions(toolset: string): Record<string, string>;
}
