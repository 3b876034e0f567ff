import type {
  CommandRequest,
  CommandResult,
  Effect,
  Json,
  NewTask,
  PastCalls,
  Preview,
  Risk,
  SearchRequest,
  SearchResult,
  TaskHandle,
  TaskView,
  ToolOutcome,
  Touches,
  WorkspaceFiles,
} from '@holdpoint/contract';
import type { z } from 'zod';
import type { OwnGraph } from './graph/port.ts';
import type { Network } from './network.ts';
import type { TextWork } from './text-work/text-work.ts';

/** Facts of the run that a call's effect may depend on. */
export interface RunFacts {
  /** Whether the run's tools may reach hosts. */
  network: boolean;
  /** Whether no person answers questions, because the run is a sub-agent's. @default false */
  unattended?: boolean;
  /** The toolset's settings of the run. @default not known */
  settings?: unknown;
}

/** Everything that a call may use of the host. */
export interface ToolContext {
  files: WorkspaceFiles;
  run(request: CommandRequest): Promise<CommandResult>;
  /** Searches the contents of files with ripgrep, without a sandbox of its own. */
  search(request: SearchRequest): Promise<SearchResult>;
  ripgrep: string;
  /** Names of the secrets that commands of the run use. */
  secrets?: readonly string[];
  /** The code graph of the run's snapshots; absent where none is made. @throws GraphError */
  graph?: OwnGraph | undefined;
  /** For texts that may be large. */
  text: TextWork;
  /**
   * The secret that a placeholder in an argument stands for; undefined: the run does not use it in this way. Absent when the run names no
   * secret: placeholders are text then.
   */
  placeholder?: ((name: string) => string | undefined) | undefined;
  /** Absent when the run has no network allowlist and therefore no network. */
  network?: Network;
  /** Whether a person let this very call run. @default false */
  approved?: boolean | undefined;
  /** The reason of the first of its toolset's `cautions` that matches the call, or may match it. @default none matches */
  caution?: string | undefined;
  signal: AbortSignal;
  /** The run is a dry run: a tool whose contract says so changes nothing, and returns what it would change. @default false */
  dryRun?: boolean | undefined;
  /** Equal for all attempts of one step. */
  idempotencyKey: string;
  tasks: TaskHandle;
  /** What the run has done before this call. */
  past: PastCalls;
  /** The toolset's settings of the run, parsed by its own schema. */
  settings: unknown;
  /** The id of the task that this call may start. */
  taskId: string;
  /** The task that an earlier execution of this call waited for, and until when (milliseconds since the epoch). */
  deferred?: { task_id: string; until: number };
  /** How deep the run is nested as a sub-agent (0: it is none), and the deepest level allowed. */
  depth: number;
  maxDepth: number;
  /** Milliseconds since the epoch. It stands still in a deterministic run. */
  now(): number;
  /** From 0 to below 1. The same sequence for each attempt of a call in a deterministic run. */
  random(): number;
  /** The model of the run, or the operator's; absent when there is none. */
  model?: string;
  /**
   * Asks that model once, without tools. What it uses counts for the limits of the run, also when the call fails. Absent when there is no model.
   * @throws an error with `code`, `message` and `next` when the provider refuses or there is no answer
   */
  generate?: ((request: GenerateRequest) => Promise<{ text: string }>) | undefined;
}

/** One question to a model. The answer is a text by a stranger, like any page. */
export interface GenerateRequest {
  system?: string;
  prompt: string;
  /** @default 8192 */
  max_output_tokens?: number;
}

/** What a tool may use to find out whether a person has to be asked. */
export type LookContext = Pick<ToolContext, 'files' | 'network' | 'model' | 'past' | 'settings' | 'signal'>;

export interface Tool<Input extends z.ZodType = z.ZodType> {
  /** Letters, digits, `_` and `-`, beginning with a letter; at most 64. */
  name: string;
  /** For the model: what the tool does, when to use it, what it returns. */
  description: string;
  effect: Effect | ((args: z.output<Input>, run: RunFacts) => Effect);
  risk: Risk;
  /** The contract's own word for its risk, such as `read_only`. @default the risk */
  label?: string;
  /** The tool fills the placeholders of its arguments itself, by `placeholder` of its context. Names that the run does not have are refused before. */
  fillsPlaceholders?: true;
  /** Semantic version of its interface. */
  version?: string;
  /** `input`: the call is a question to a person. It always parks, and the answer is the result. */
  gate?: 'input';
  /** The call changes something besides files that other calls see, such as a task. It keeps its order within the turn like a write. */
  sequential?: true;
  /**
   * Each call has a whole list, such as todos, in its arguments. The last one stays word for word in the conversation of a model when older
   * turns are shortened.
   */
  keepsList?: true;
  /** Begins sub-agents, of a kind that its argument `agent` names. The instructions of a model list the kinds. */
  takesKind?: true;
  input: Input;
  /** What `value` of an outcome that succeeded is; an outcome that differs is a defect of the tool: `EBADOUTPUT`. @default anything */
  output?: z.ZodType;
  /** With `gate: 'input'`: the value that a person's words become. @default `{answer: words}` */
  answer?(args: z.output<Input>, words: string): Json;
  /** How the call runs beside others of its turn, as a background command. @default it runs after them */
  beside?: Beside<Input>;
  /** What the call touches, by its arguments. Pure. @default nothing */
  touches?(args: z.output<Input>): Partial<Touches>;
  /**
   * Why a person has to be asked before this call. `true`: always, unless a rule of the policies that names the tool allows the call. A
   * function: as the workspace is now; it changes nothing, and it is asked before the call becomes runnable and again after its attempt
   * began. It adds a question to the policy and never removes one.
   */
  asks?: true | ((context: LookContext, args: z.output<Input>) => Promise<string | undefined>);
  /**
   * Rules of the network (`host`, `host:port`, `*.host`) that hold for its calls alone, beside those of the run: addresses that the operator or
   * the settings of the run chose for it. A tool that has them judges each address by itself, and an approval opens one in every run. Pure.
   */
  reaches?(args: z.output<Input>, settings: unknown): readonly string[];
  execute(context: ToolContext, args: z.output<Input>): Promise<ToolOutcome>;
  preview?(context: ToolContext, args: z.output<Input>): Promise<Preview>;
}

/** A call as a background command, for calls of one turn that run side by side. */
export interface Beside<Input extends z.ZodType> {
  task(args: z.output<Input>, settings: unknown): NewTask & { kind: 'shell' };
  /** The outcome of the call, when its command has ended. */
  settle(context: ToolContext, args: z.output<Input>, task: TaskView): Promise<ToolOutcome>;
}
