import type {
  CommandLimits,
  Connection,
  ModelUsage,
  Network,
  PastCalls,
  Prepare,
  PrepareResult,
  Preview,
  RunSpec,
  SecretScope,
  Settings,
  ShellSpec,
  TaskHandle,
  TaskOutcome,
  Toolchain,
  ToolOutcome,
  Validator,
  ValidatorResult,
} from '@holdpoint/contract';
import type { OutputWriter } from '../outputs/output-store.ts';
import type { Call } from './catalog.ts';

/** What one request to a model used. */
export interface ModelUse {
  model: string;
  usage: ModelUsage;
}

export interface ExecutionContext {
  runId: string;
  stepId: string;
  attempt: number;
  /** Which tree of the workspace: a call whose tree was taken over fails. */
  epoch: number;
  tasks: TaskHandle;
  /** The id of the task that this call begins, if it does. */
  taskId: string;
  /** The task that an earlier attempt of this call waited for, and its deadline. */
  deferred?: { task_id: string; until: number };
  /** The call runs as a background command: the first attempt waits for it, and the next one makes its outcome. */
  beside?: true | undefined;
  /** How many runs are above this one. */
  depth: number;
  maxDepth: number;
  /** What its prompts and sub-agents use. Absent when neither the run nor the operator names one. */
  model?: string;
  /** The run has a limit in dollars: a model whose price is not known is not asked. */
  needsPrice?: true | undefined;
  /** Milliseconds one command may take at most. */
  wallMs: number;
  /** The run's other bounds of one command. */
  limits: CommandLimits;
  /** What the run had done before this call. */
  past: PastCalls;
  /** The toolset's settings of the run. */
  settings: Settings;
  network: Network;
  scope: SecretScope;
  /** `host:port` beside the allowlist that a person opened for this call alone. */
  granted: readonly string[];
  /** The part of a tool's own rules of the network that the run's permissions and modes leave open. */
  openHosts(rules: readonly string[]): readonly string[];
  /** Whether a decision let this very call run. */
  approved: boolean;
  /** Where the random numbers of tools come from, and then the clock stands still. @default the machine's */
  seed?: string | undefined;
  /** Commands see the workspace read-only. */
  readOnly: boolean;
  /**
   * The call only reads, by what the kernel enforces: its command finds these programs alone, nothing of the tree can be written or started, and
   * there is no network. @default it runs as any other
   */
  reads?: readonly string[] | undefined;
  /** The snapshot that the call sees. */
  snapshot: string;
  /** What the run may do. @default everything that its policy lets it */
  permissions?: readonly string[] | undefined;
  /** The run is a dry run, which some tools answer by themselves. @default false */
  dryRun?: boolean | undefined;
  /** Called while the call reads files for the code graph, as often as it likes. Counts files of the snapshot. */
  onGraphProgress?(progress: { files: number; total: number }): void;
  /** Records what a request of the call to a model used. Does not reject. */
  onModelUse(use: ModelUse): Promise<void>;
  /** Called for every connection that the call made or was refused, when the connection ends. */
  onConnection(connection: Connection): void;
  signal: AbortSignal;
}

export interface Executor {
  /** Where each path of the workspace really leads, through its links, relative to the root. A path that leads nowhere inside stays as it is. */
  resolvePaths(
    paths: readonly string[],
    context: Pick<ExecutionContext, 'runId' | 'epoch' | 'signal'>,
  ): Promise<readonly string[]>;
  /** Why a person has to be asked before the call, as the workspace is now. Changes nothing. */
  asks(
    call: Call,
    context: Pick<ExecutionContext, 'runId' | 'epoch' | 'model' | 'network' | 'past' | 'scope' | 'settings' | 'signal'>,
  ): Promise<string | undefined>;
  /** What a person should see before deciding; undefined when the call itself says it all. */
  preview(
    call: Call,
    context: Pick<ExecutionContext, 'runId' | 'epoch' | 'network' | 'past' | 'scope' | 'settings' | 'signal'> & {
      tasks: Pick<TaskHandle, 'previewMerge'>;
    },
  ): Promise<Preview | undefined>;
  /** Runs a call. Tool errors are outcomes; an exception is an infrastructure error, and the attempt is indeterminate. */
  execute(call: Call, context: ExecutionContext): Promise<ToolOutcome>;
  /** Runs a validator in the sandbox, on the workspace as it is, without a network. An exception is an infrastructure error. */
  validate(
    validator: Validator,
    context: Pick<ExecutionContext, 'runId' | 'epoch' | 'limits' | 'scope' | 'signal'>,
  ): Promise<ValidatorResult>;
  /** What commands of the run find as the programs of its project's languages. */
  toolchains(context: Pick<ExecutionContext, 'runId' | 'epoch' | 'signal'>): Promise<Toolchain[]>;
  /**
   * The digest of everything that decides what the commands of `prepare` make: the commands, their inputs as the base snapshot has them, the
   * toolchains and the sandbox. Undefined when the result fits this run's place alone.
   */
  prepareKey(
    place: { runId: string; epoch: number; tenant: string; base: string },
    prepare: Prepare & { secrets: RunSpec['secrets'] & object },
  ): Promise<string | undefined>;
  /** Runs a command of `prepare`, numbered from 1, until it ends. An exception is an infrastructure error. */
  prepare(
    command: string,
    context: Pick<
      ExecutionContext,
      'runId' | 'epoch' | 'wallMs' | 'limits' | 'network' | 'scope' | 'seed' | 'onConnection' | 'signal'
    > & { number: number },
  ): Promise<PrepareEnd>;
  /** Runs a command beside the steps until it ends. Its output goes to `output` as it comes. An exception is an infrastructure error. */
  runTask(spec: ShellSpec, context: TaskContext): Promise<TaskEnd>;
  /** Ends what a task has running, whichever worker of this host started it. */
  killTask(runId: string, taskId: string): Promise<void>;
}

export interface TaskContext
  extends Pick<
    ExecutionContext,
    'runId' | 'epoch' | 'wallMs' | 'limits' | 'network' | 'scope' | 'readOnly' | 'seed' | 'onConnection' | 'signal'
  > {
  taskId: string;
  output: OutputWriter;
  /** Called when the command begins to run. */
  onBegun(): void;
}

/** @property detail why it was stopped; null: it ended by itself */
export interface PrepareEnd extends Pick<PrepareResult, 'exit_code' | 'duration_ms' | 'output'> {
  succeeded: boolean;
  detail: string | null;
}

/** `killed`: ended from outside; the engine knows whether it requested that. */
export interface TaskEnd extends TaskOutcome {
  status: 'completed' | 'failed' | 'killed' | 'timed_out';
}
