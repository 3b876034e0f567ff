import type { CallDescription, Json, Modes, Problem, Settings, SettledCall, ToolsetRules } from '@holdpoint/contract';

export interface Call {
  toolset: string;
  tool: string;
  args: Json;
}

/** Which tools there are and what a call of them would be. Pure: touches no workspace. */
export interface ToolCatalog {
  /**
   * @param call.network whether the run's tools may reach anything outside: a command that can is an external effect
   * @param call.unattended the call is a sub-agent's: no person answers questions
   */
  describe(call: Call & { network: boolean; unattended?: boolean; settings?: Settings }): CallDescription;
  /** The version of each tool of a toolset: a short digest of what a call of it must look like. */
  versions(toolset: string): Record<string, string>;
  /** What a toolset says of its own calls. @param settings of the run, as its modes */
  rules(toolset: string, settings: unknown, modes?: Modes): ToolsetRules;
  /** The result of a settled call by the toolset's contract. Never throws, and depends on its arguments alone. */
  present(toolset: string, call: SettledCall): Json;
  /** The settings with all defaults, or what is wrong with them. */
  checkSettings(toolset: string, settings: Settings): CheckedSettings;
  /** Permissions of a run without own ones, paths that calls of the toolset never change, and its tools that run any line for a shell. */
  grants(toolset: string): { permissions?: readonly string[]; protected: readonly string[]; shells: readonly string[] };
  /** The names of the tools that wait for background tasks and end tasks, if the toolset has any. */
  taskTools(toolset: string): TaskTools;
  /** What the answer of a person to a question becomes. */
  answer(call: Call, words: string): { value: Json } | { error: Problem };
  /** What a model reads about the toolset before its prompt. */
  instructions(toolset: string): string | undefined;
}

export interface TaskTools {
  waits?: string | undefined;
  ends?: string | undefined;
}

type CheckedSettings =
  | { ok: true; settings: Record<string, Json> }
  /** `pointer`: in the settings. */
  | { ok: false; errors: readonly { pointer: string; detail: string }[] };
