import type { CallDescription, Json, Modes, Problem, Settings, SettledCall, ToolsetRules } from '@holdpoint/contract';

export interface Call {
  toolset: string;
  tool: string;
  args: Json;
}

/** Describes the tools of toolsets and their calls. Pure: touches no workspace. */
export interface ToolCatalog {
  /**
   * @param call.network whether the run's tools may reach anything outside: a command with a network is an external effect
   * @param call.unattended the call is a sub-agent's: no person answers questions
   */
  describe(call: Call & { network: boolean; unattended?: boolean; settings?: Settings }): CallDescription;
  /** The version of each tool of a toolset: a short digest of the form of the tool's calls. */
  versions(toolset: string): Record<string, string>;
  /** A toolset's rules for its own calls. @param settings of the run, as its modes */
  rules(toolset: string, settings: unknown, modes?: Modes): ToolsetRules;
  /** The result of a settled call by the toolset's contract. Never throws, and depends on its arguments alone. */
  present(toolset: string, call: SettledCall): Json;
  /** The settings with all defaults, or their errors. */
  checkSettings(toolset: string, settings: Settings): CheckedSettings;
  /**
   * Permissions of a run without own permissions, paths never changed by calls of the toolset, and its tools able to run any line for a
   * shell.
   */
  grants(toolset: string): { permissions?: readonly string[]; protected: readonly string[]; shells: readonly string[] };
  /** The names of the toolset's tools for waiting for background tasks and for ending tasks, if the toolset has any. */
  taskTools(toolset: string): TaskTools;
  /** Turns the answer of a person to a question into the result of the call. */
  answer(call: Call, words: string): { value: Json } | { error: Problem };
  /** Arguments of a tool, by name, that a remembered decision may leave out: words for people, and time limits of commands. */
  advisory(toolset: string, tool: string): { words?: readonly string[]; limits?: readonly string[] };
  /** The text about the toolset before the model's prompt. */
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
