import type * as contract from '@holdpoint/contract';
import type { z } from 'zod';
import type { OwnGraph } from './graph/port.ts';
import type { JsonSchema } from './json-schema.ts';
import type { LanguagePort } from './language/port.ts';
import type { Network } from './network.ts';
import type { RenderResult } from './result-text/result-text.ts';
import type { TakeScreenshot } from './screenshot-port.ts';
import type { TextWork } from './text-work/text-work.ts';

/** A place where a file does not follow the grammar of its language. Lines and columns count from 1. */
interface SyntaxProblem {
  line: number;
  column: number;
  message: string;
}

/** The lines of a running command. */
export interface Conversation {
  /** Writes a line to the command's input. */
  send(line: string): void;
  /** The next line of its output; undefined after the last. A line of more than 8 MiB ends the command. */
  receive(): Promise<string | undefined>;
}

/**
 * Runs a command until `talk` settles: then its input ends, and after half a second its processes are ended. When the command ends first,
 * `receive` has no more lines.
 * @param request.read_only the command gets the tree read-only. @default false
 */
export type Converse = <Said>(
  request: Pick<contract.CommandRequest, 'argv' | 'cwd' | 'env' | 'network' | 'limits'> & { read_only?: boolean },
  talk: (conversation: Conversation) => Promise<Said>,
) => Promise<Talked<Said>>;

interface Talked<Said> {
  /** How `talk` settled. */
  talk: PromiseSettledResult<Said>;
  /** Undefined: the command stays, or was ended because the talk was over. */
  end: contract.CommandEnd | undefined;
  /** The last 4 KiB of stderr. */
  stderr: string;
}

/** A program that may stay between the calls of a run. It gets the tree read-only and no network. */
export interface KeptRequest<Session> extends Pick<contract.CommandRequest, 'argv' | 'env'> {
  /** A run has at most one program of a name. */
  name: string;
  /** A program with another pin is ended and started again. */
  pin: string;
  /** Begins the conversation with a program that was just started. */
  open(conversation: Conversation): Promise<Session>;
  /** Whether the program may stay after this error of a talk. */
  isSound(error: unknown): boolean;
}

/**
 * Speaks with a program that stays between the calls of a run: the first talk starts the program, and later talks find it. Talks may overlap. A program
 * that ended is started again before the next talk.
 */
export type ConverseKept = <Session, Said>(
  request: KeptRequest<Session>,
  talk: (session: Session) => Promise<Said>,
) => Promise<Talked<Said>>;

/** Facts of the run with influence on a call's effect. */
export interface RunFacts {
  /** Whether the run's tools may reach hosts. */
  network: boolean;
  /** Whether no person answers questions, because the run is a sub-agent's. @default false */
  unattended?: boolean;
  /** The toolset's settings of the run. @default not known */
  settings?: unknown;
}

/** The parts of the host available to a call. */
export interface ToolContext {
  files: contract.WorkspaceFiles;
  run(request: contract.CommandRequest): Promise<contract.CommandResult>;
  /** Runs a command, and speaks with it while it runs. Absent where a call runs no command with effects. */
  converse?: Converse | undefined;
  /** Absent where no program may stay: in a deterministic run, and where a call runs no command. */
  converseKept?: ConverseKept | undefined;
  /** Searches the contents of files with ripgrep, without a sandbox of its own. */
  search(request: contract.SearchRequest): Promise<contract.SearchResult>;
  ripgrep: string;
  /** Whether the run may read a path, relative to the root. @default every path is readable */
  isReadable?: ((path: string) => boolean) | undefined;
  /** Names of the secrets for commands of the run. */
  secrets?: readonly string[];
  /** The code graph of the run's snapshots; absent where none is made. @throws GraphError */
  graph?: OwnGraph | undefined;
  /** The syntax errors that a change of a file brought; none where they are not known in time. @default no check */
  checkSyntax?:
    | ((change: { path: string; before: Buffer; after: Buffer }) => Promise<readonly SyntaxProblem[]>)
    | undefined;
  /** The language servers of the workspace. @default none */
  language?: LanguagePort | undefined;
  /** Hears of each text file that the call has written. @default nothing hears */
  onWritten?: ((written: { path: string; before: Buffer; after: Buffer }) => void) | undefined;
  /**
   * The text of pages of a PDF, from `offset` on, counted from 1, and these pages as a file of their own, where one can be made.
   * @default none can be read
   */
  pages?:
    | ((asked: { data: Buffer; offset: number; limit: number }) => Promise<
        | {
            total_pages: number;
            pages: readonly { page: number; text: string; cut?: number | undefined }[];
            /** Has the first of the pages, at most all of them. */
            file?: { data: Buffer; pages: number } | undefined;
          }
        | { problem: 'password' | 'broken' | 'late' | 'large'; message: string }
      >)
    | undefined;
  /** Pictures of pages that the run serves. @default no browser */
  screenshot?: TakeScreenshot | undefined;
  /** For texts of any size. */
  text: TextWork;
  /**
   * The secret behind a placeholder in an argument; undefined: the run does not use the secret in this way. Absent when the run names no
   * secret: placeholders are text then.
   */
  placeholder?: ((name: string) => string | undefined) | undefined;
  /** Absent when the run has no network allowlist and therefore no network. */
  network?: Network;
  /** Whether a person let this very call run. @default false */
  approved?: boolean | undefined;
  /** The outside agent of the run makes the call with its own tool and reports the outcome. Absent where no such agent runs. */
  byAgent?: ((call: { tool: string; args: unknown }) => Promise<contract.ToolOutcome>) | undefined;
  /** The reason of the first certain or possible match among the toolset's `cautions`. @default no match */
  caution?: string | undefined;
  signal: AbortSignal;
  /** The run is a dry run: a tool with dry runs in its contract changes nothing, and returns the planned change. @default false */
  dryRun?: boolean | undefined;
  /** Equal for all attempts of a step. */
  idempotencyKey: string;
  /** @default not known */
  runId?: string | undefined;
  /** Whose run it is. @default the first tenant */
  tenant?: string | undefined;
  tasks: contract.TaskHandle;
  /** The calls of the run before this call. */
  past: contract.PastCalls;
  /** The toolset's settings of the run, parsed by its own schema. */
  settings: unknown;
  /** The id of the task this call may start. */
  taskId: string;
  /** The task of an earlier, deferred execution of this call, and the end of its wait (milliseconds since the epoch). */
  deferred?: { task_id: string; until: number };
  /**
   * Set when an earlier execution of this call was deferred with `outside`: the call was made, and this execution asks for its result. With
   * `over` it only lets go of the work.
   */
  awaited?: contract.AwaitedOutside | undefined;
  /** What a person answered to the question of an earlier execution of this call. */
  answered?: contract.AnsweredQuestion | undefined;
  /** The run's depth as a sub-agent (0: not a sub-agent), and the deepest permitted level. */
  depth: number;
  maxDepth: number;
  /** Milliseconds since the epoch. Constant in a deterministic run. */
  now(): number;
  /** From 0 to below 1. The same sequence for each attempt of a call in a deterministic run. */
  random(): number;
  /** The model of the run, or the operator's; absent when there is none. */
  model?: string;
  /**
   * Asks this model once, without tools. The usage counts for the limits of the run, even when the call fails. Absent without a model.
   * @throws an error with `code`, `message` and `next` for a refusal of the provider or a missing answer
   */
  generate?: ((request: GenerateRequest) => Promise<{ text: string }>) | undefined;
}

/** A question to a model. The answer is a text by a stranger, like any page. */
export interface GenerateRequest {
  system?: string;
  prompt: string;
  /** @default 8192 */
  max_output_tokens?: number;
}

/** The parts available to a tool for the decision whether to ask a person. */
export type LookContext = Pick<ToolContext, 'files' | 'network' | 'model' | 'past' | 'settings' | 'signal'>;

export interface Tool<Input extends z.ZodType = z.ZodType> {
  /** Letters, digits, `_` and `-`, beginning with a letter; at most 64. */
  name: string;
  /** For the model: the purpose of the tool, the time to use the tool, its return value. */
  description: string;
  effect: contract.Effect | ((args: z.output<Input>, run: RunFacts) => contract.Effect);
  risk: contract.Risk;
  /** The contract's own word for its risk, for example `read_only`. @default the risk */
  label?: string;
  /** The tool fills the placeholders of its arguments, by `placeholder` of its context. Names unknown to the run are refused before. */
  fillsPlaceholders?: true;
  /** Semantic version of its interface. */
  version?: string;
  /** Text that belongs to the version, such as a digest of where its calls go: runs pause when it changes. */
  pin?: string | undefined;
  /**
   * `input`: the call is a question to a person. The call always parks, and the answer is the result. `plan`: the call submits the plan of a run
   * in plan mode. The call always parks, and its approval ends plan mode. An operator's own tool cannot have it.
   */
  gate?: contract.CallGate;
  /** Every call fails in a run without a network: the model of such a run is not offered the tool. */
  needsNetwork?: true;
  /**
   * The call changes something besides files with an effect on other calls, for example a task. The call keeps its order within the turn
   * like a write.
   */
  sequential?: true;
  /**
   * Each call has a whole list, for example todos, in its arguments. The last list stays word for word in the conversation of a model when
   * older turns are shortened.
   */
  keepsList?: true;
  /** The name of its only argument, where a text that a model writes without the escapes of JSON is written better. */
  freeText?: string;
  /** Begins sub-agents, of the kind in its argument `agent`. The instructions of a model list the kinds. */
  takesKind?: true;
  /** Waits for a background task, or ends a task, by its id. Errors about open tasks name the tool. */
  onTask?: 'waits' | 'ends';
  input: Input;
  /**
   * The schema of its arguments for a model, from the schema of `input`, which alone judges calls. Pure. An operator's own tool cannot have it.
   * @default the same
   */
  modelSchema?(schema: JsonSchema): JsonSchema;
  /** The schema of `value` in a successful outcome; a different outcome is a defect of the tool: `EBADOUTPUT`. @default anything */
  output?: z.ZodType;
  /**
   * The text of a settled call for a model, where the toolset has no form of its own. Pure. @default a text as it is, any other value as JSON
   */
  render?: RenderResult;
  /**
   * Most bytes of a result in a request to a model. A longer result shows both ends, and a file has the whole. @default 16 KiB, or as the
   * operator says
   */
  resultBytes?: number;
  /** With `gate: 'input'`: the value made from a person's words. @default `{answer: words}` */
  answer?(args: z.output<Input>, words: string): contract.Json;
  /** Runs the call concurrently with other calls of its turn, as a background command. @default the call runs after them */
  beside?: Beside<Input>;
  /** Runs any line for a shell. A rule that denies or holds such a tool by name binds the commands of `prepare`, too. */
  shell?: true;
  /** The paths and hosts of the call, from its arguments. Pure. @default nothing */
  touches?(args: z.output<Input>): Partial<contract.Touches>;
  /**
   * Why a person has to be asked before this call. `true`: always, unless a rule of the policies names the tool and allows the call. A
   * function: for the present workspace; the function changes nothing. The engine calls the function before the call becomes runnable and
   * again after its attempt began. The function adds a question to the policy and never removes a question.
   */
  asks?: true | ((context: LookContext, args: z.output<Input>) => Promise<string | undefined>);
  /** Whether `asks` may have a reason for these arguments, without a look at the workspace. Pure. @default always */
  mayAsk?(args: z.output<Input>, settings: unknown): boolean;
  /**
   * Rules of the network (`host`, `host:port`, `*.host`) for its calls alone, in addition to the run's rules: addresses chosen for the tool
   * by the operator or the settings of the run. A tool with such rules judges each address, and an approval opens an address in every run.
   * Pure.
   */
  reaches?(args: z.output<Input>, settings: unknown): readonly string[];
  /**
   * Secrets of the operator that are added as headers to the requests of its calls, each to one host, in addition to the secrets of the run.
   * The tool sees no value.
   */
  sends?: readonly contract.SecretUse[];
  execute(context: ToolContext, args: z.output<Input>): Promise<contract.ToolOutcome>;
  preview?(context: ToolContext, args: z.output<Input>): Promise<contract.Preview>;
}

/** A call as a background command, for concurrent calls of the same turn. */
export interface Beside<Input extends z.ZodType> {
  task(args: z.output<Input>, settings: unknown): contract.NewTask & { kind: 'shell' };
  /** The outcome of the call, when its command has ended. */
  settle(context: ToolContext, args: z.output<Input>, task: contract.TaskView): Promise<contract.ToolOutcome>;
}
