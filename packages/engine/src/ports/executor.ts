import type * as contract from '@holdpoint/contract';
import type { OutputWriter } from '../outputs/output-store.ts';

/** The usage of a single request to a model. */
export interface ModelUse {
  model: string;
  usage: contract.ModelUsage;
}

export interface ExecutionContext {
  runId: string;
  stepId: string;
  attempt: number;
  /** The tree of the workspace to use: a call fails when its tree was taken over. */
  epoch: number;
  tasks: contract.TaskHandle;
  /** The id of the task begun by this call, if the call begins a task. */
  taskId: string;
  /** The task awaited by an earlier attempt of this call, and the deadline of the wait. */
  deferred?: { task_id: string; until: number };
  /** What the other side of the call gets back, where an earlier attempt of this call waits for its result. */
  awaited?: contract.AwaitedOutside | undefined;
  /** The answers of a person to the question of an earlier attempt, whose other side waits for them. */
  answered?: contract.AnsweredQuestion | undefined;
  /** The call runs as a background command: the first attempt waits for the command, and the next attempt makes the call's outcome. */
  beside?: true | undefined;
  /** The number of runs above this run. */
  depth: number;
  maxDepth: number;
  /** The model of the call's prompts and sub-agents. Absent when neither the run nor the operator names a model. */
  model?: string;
  /** The run has a limit in dollars: a model whose price is not known is not asked. */
  needsPrice?: true | undefined;
  /** The longest time of a command, in milliseconds. */
  wallMs: number;
  /** The run's other bounds of each command. */
  limits: contract.CommandLimits;
  /** The run's calls before this call. */
  past: contract.PastCalls;
  /** The toolset's settings of the run. */
  settings: contract.Settings;
  network: contract.Network;
  scope: contract.SecretScope;
  /** `host:port` outside the allowlist, opened by a person for this call alone. */
  granted: readonly string[];
  /** The part of a tool's own network rules left open by the run's permissions and modes. */
  openHosts(rules: readonly string[]): readonly string[];
  /** Whether a decision let this very call run. */
  approved: boolean;
  /** Where the random numbers of tools come from, and then the clock stands still. @default the machine's */
  seed?: string | undefined;
  /** Commands see the workspace read-only. */
  readOnly: boolean;
  /**
   * The kernel restricts the call to reading: its command finds these programs alone, can neither write nor start anything in the tree, and
   * has no network. @default the call runs like any other
   */
  reads?: readonly string[] | undefined;
  /** The snapshot seen by the call. */
  snapshot: string;
  /** The permissions of the run. @default everything its policy allows */
  permissions?: readonly string[] | undefined;
  /** The run is a dry run: some tools have their own answer for dry runs. @default false */
  dryRun?: boolean | undefined;
  /** Called any number of times while the call reads files for the code graph. Counts files of the snapshot. */
  onGraphProgress?(progress: { files: number; total: number }): void;
  /** Records the usage of a request of the call to a model. Does not reject. */
  onModelUse(use: ModelUse): Promise<void>;
  /** Called when a connection ends which the call made, or was refused. */
  onConnection(connection: contract.Connection): void;
  signal: AbortSignal;
}

export interface Executor {
  /** Resolves the links in each path of the workspace. Results are relative to the root. A path leading nowhere inside stays as given. */
  resolvePaths(
    paths: readonly string[],
    context: Pick<ExecutionContext, 'runId' | 'epoch' | 'signal'>,
  ): Promise<readonly string[]>;
  /** Why a person has to be asked before the call, as the workspace is now. Changes nothing. */
  asks(
    call: Call,
    context: Pick<ExecutionContext, 'runId' | 'epoch' | 'model' | 'network' | 'past' | 'scope' | 'settings' | 'signal'>,
  ): Promise<string | undefined>;
  /** The preview for a person before deciding; undefined when the call shows everything already. */
  preview(
    call: Call,
    context: Pick<ExecutionContext, 'runId' | 'epoch' | 'network' | 'past' | 'scope' | 'settings' | 'signal'> & {
      tasks: Pick<contract.TaskHandle, 'previewMerge'>;
    },
  ): Promise<contract.Preview | undefined>;
  /** Runs a call. Tool errors are outcomes; an exception is an infrastructure error, and the attempt is indeterminate. */
  execute(call: Call, context: ExecutionContext): Promise<contract.ToolOutcome>;
  /** Runs a validator in the sandbox, on the present workspace, without a network. An exception is an infrastructure error. */
  validate(
    validator: contract.Validator,
    context: Pick<ExecutionContext, 'runId' | 'epoch' | 'limits' | 'scope' | 'signal'>,
  ): Promise<contract.ValidatorResult>;
  /** The programs of the project's languages found by commands of the run. */
  toolchains(context: Pick<ExecutionContext, 'runId' | 'epoch' | 'signal'>): Promise<contract.Toolchain[]>;
  /**
   * The digest of everything the result of `prepare` depends on: the commands, their inputs in the base snapshot, the toolchains and the
   * sandbox. Undefined when the result fits this run's place alone.
   */
  prepareKey(
    place: { runId: string; epoch: number; tenant: string; base: string },
    prepare: contract.Prepare & { secrets: contract.RunSpec['secrets'] & object },
  ): Promise<string | undefined>;
  /** Runs a command of `prepare`, numbered from 1, until the command ends. An exception is an infrastructure error. */
  prepare(
    command: string,
    context: Pick<
      ExecutionContext,
      'runId' | 'epoch' | 'wallMs' | 'limits' | 'network' | 'scope' | 'seed' | 'onConnection' | 'signal'
    > & { number: number },
  ): Promise<PrepareEnd>;
  /**
   * Runs a command in parallel to the steps until the command ends. Output goes to `output` as the command writes. An exception is an
   * infrastructure error.
   */
  runTask(spec: contract.ShellSpec, context: TaskContext): Promise<TaskEnd>;
  /** Ends the running command of a task, whichever worker of this host started the command. */
  killTask(runId: string, taskId: string): Promise<void>;
}

export interface TaskContext
  extends Pick<
    ExecutionContext,
    'runId' | 'epoch' | 'wallMs' | 'limits' | 'network' | 'scope' | 'readOnly' | 'seed' | 'onConnection' | 'signal'
  > {
  taskId: string;
  output: OutputWriter;
  /** Opens the texts for the standard input of a command with an input, in order. Ends them when the signal aborts. */
  inputs(signal: AbortSignal): AsyncIterable<contract.TaskInput>;
  /** Called when the command begins to run. */
  onBegun(): void;
}

/** @property detail why the command was stopped; null: the command ended without a stop */
export interface PrepareEnd extends Pick<contract.PrepareResult, 'exit_code' | 'duration_ms' | 'output'> {
  succeeded: boolean;
  detail: string | null;
}

/** `killed`: ended from outside; the engine knows whether the kill was its own request. */
export interface TaskEnd extends contract.TaskOutcome {
  status: 'completed' | 'failed' | 'killed' | 'timed_out';
}

export interface Call {
  toolset: string;
  tool: string;
  args: contract.Json;
}

/** Describes the tools of toolsets and their calls. Pure: touches no workspace. */
export interface ToolCatalog {
  /**
   * @param call.network whether the run's tools may reach anything outside: a command with a network is an external effect
   * @param call.unattended the call is a sub-agent's: no person answers questions
   */
  describe(
    call: Call & { network: boolean; unattended?: boolean; settings?: contract.Settings },
  ): contract.CallDescription;
  /** The version of each tool of a toolset: a short digest of the form of the tool's calls. */
  versions(toolset: string): Record<string, string>;
  /** A toolset's rules for its own calls. @param settings of the run, as its modes */
  rules(toolset: string, settings: unknown, modes?: contract.Modes): contract.ToolsetRules;
  /** The result of a settled call by the toolset's contract. Never throws, and depends on its arguments alone. */
  present(toolset: string, call: contract.SettledCall): contract.Json;
  /** The settings with all defaults, or their errors. */
  checkSettings(toolset: string, settings: contract.Settings): CheckedSettings;
  /**
   * Permissions of a run without own permissions, paths never changed by calls of the toolset, and its tools able to run any line for a
   * shell.
   */
  grants(toolset: string): { permissions?: readonly string[]; protected: readonly string[]; shells: readonly string[] };
  /** The names of the toolset's tools for waiting for background tasks and for ending tasks, if the toolset has any. */
  taskTools(toolset: string): TaskTools;
  /** Turns the answer of a person to a question into the result of the call. */
  answer(call: Call, words: string): { value: contract.Json } | { error: contract.Problem };
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
  | { ok: true; settings: Record<string, contract.Json> }
  /** `pointer`: in the settings. */
  | { ok: false; errors: readonly { pointer: string; detail: string }[] };
