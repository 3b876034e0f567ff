import type { Json, SettledCall, ToolsetRules } from '@holdpoint/contract';
import type { Call, ExecutionContext, TaskContext, TaskTools } from '../ports/index.ts';

/** What goes wrong, and when: may change while a test runs. */
export interface Faults {
  execute?: (context: ExecutionContext) => void | Promise<void>;
  /** The question of the tool, when it looks at the tree before a call. */
  asks?: (call: Call, tree: readonly string[]) => string | undefined;
  /** The tools of the toolset for background tasks. @default `wait_for` and `end_task` */
  taskTools?: TaskTools;
  /** What the toolset says of its calls. */
  rules?: ToolsetRules;
  /** The arguments of the tool that a remembered decision leaves out. */
  advisory?: { words?: readonly string[]; limits?: readonly string[] };
  /** Where links in the tree lead, by their path. */
  links?: Record<string, string>;
  /** Before the background commands of a run stand still. */
  freeze?: () => void | Promise<void>;
  /** While a background command runs. */
  task?: (signal: AbortSignal, inputs: TaskContext['inputs']) => Promise<void>;
  /** The toolset's result of a call. @default the value, or `{status, value, error}` */
  present?: (call: SettledCall) => Json;
  /** Files that a merge of this run finds changed on both sides. */
  mergeConflict?: (childId: string) => string[];
  /** The version of the tools. */
  version?: string;
  /** What is wrong with the first tree. */
  tree?: 'other_boot' | 'tree_changed';
  /** A file changed at the source. */
  conflict?: boolean;
  /** What the plan of a publish says it has to leave out. */
  unpublishable?: string[];
  /** The state of the source; a plan holds only while it is the same. */
  source?: number;
}
