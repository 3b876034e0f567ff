/**
 * The names of attributes, operations and spans, each in one place.
 *
 * GenAI names follow version 0.1.0 of OpenTelemetry's GenAI conventions, general names version 1.45.0 of its semantic conventions (the npm
 * package `@opentelemetry/semantic-conventions` 1.45.0, `/incubating`). Both are in development, so a new version is a change of this file.
 * Names that no convention has begin with `holdpoint.`. Those that have content say so.
 */
export const genAi = {
  operation: 'gen_ai.operation.name',
  provider: 'gen_ai.provider.name',
  /** The toolset: what an agent can do is what its kind is. */
  agentName: 'gen_ai.agent.name',
  /** The id of the run. */
  conversationId: 'gen_ai.conversation.id',
  requestModel: 'gen_ai.request.model',
  responseModel: 'gen_ai.response.model',
  responseId: 'gen_ai.response.id',
  finishReasons: 'gen_ai.response.finish_reasons',
  inputTokens: 'gen_ai.usage.input_tokens',
  outputTokens: 'gen_ai.usage.output_tokens',
  cacheReadTokens: 'gen_ai.usage.cache_read.input_tokens',
  reasoningTokens: 'gen_ai.usage.reasoning.output_tokens',
  toolName: 'gen_ai.tool.name',
  toolCallId: 'gen_ai.tool.call.id',
  /** With content only: HOLDPOINT_TRACE_CONTENT. */
  inputMessages: 'gen_ai.input.messages',
  outputMessages: 'gen_ai.output.messages',
  toolArguments: 'gen_ai.tool.call.arguments',
  toolResult: 'gen_ai.tool.call.result',
} as const;

/** The values of `genAi.operation`. */
export const genAiOperation = {
  /** A run or a sub-agent whose calls a model decides. */
  invokeAgent: 'invoke_agent',
  /** A run whose calls come from a plan or from its caller. */
  invokeWorkflow: 'invoke_workflow',
  /** A turn that a model decided. */
  chat: 'chat',
  /** A turn that a plan or a caller decided. */
  plan: 'plan',
  executeTool: 'execute_tool',
} as const;

/** General conventions. */
export const general = {
  /** The stable code of an error. */
  errorType: 'error.type',
  exitCode: 'process.exit.code',
  hostName: 'host.name',
  serverAddress: 'server.address',
  serverPort: 'server.port',
} as const;

export const attribute = {
  tenant: 'holdpoint.tenant',
  toolset: 'holdpoint.toolset',

  runId: 'holdpoint.run.id',
  /** `scripted`, `model` or `open`. */
  planner: 'holdpoint.run.planner',
  priority: 'holdpoint.run.priority',
  dryRun: 'holdpoint.run.dry_run',
  /** `succeeded`, `failed` or `canceled`. */
  runOutcome: 'holdpoint.run.outcome',
  /** From 1. A run that is retried after its end has one more. */
  runLife: 'holdpoint.run.life',
  /** On events of a run: what it was resumed after, and how many steps were taken back. */
  resumedAfter: 'holdpoint.run.resumed_after',
  undoneSteps: 'holdpoint.run.undone_steps',
  /** 1 and more: the run is a sub-agent. */
  runDepth: 'holdpoint.run.depth',
  /** How many steps and turns a run or a segment had. */
  steps: 'holdpoint.steps',
  turns: 'holdpoint.turns',

  /** `queued`, `running`, `waiting`, `paused` or `canceling`. */
  segmentState: 'holdpoint.segment.state',
  /** From 1, over all lives of the run. */
  segmentNumber: 'holdpoint.segment.number',
  /** What a waiting run waits for (`approval`, `task`, `calls`), or the code of the reason of a pause. */
  segmentReason: 'holdpoint.segment.reason',

  turn: 'holdpoint.turn.number',
  turnCalls: 'holdpoint.turn.calls',
  turnRefusedCalls: 'holdpoint.turn.refused_calls',
  /** Millionths of a US dollar. */
  costMicros: 'holdpoint.cost.micros',

  stepId: 'holdpoint.step.id',
  stepIndex: 'holdpoint.step.index',
  /** `read`, `workspace` or `external`. */
  effect: 'holdpoint.step.effect',
  risk: 'holdpoint.step.risk',
  stepOutcome: 'holdpoint.step.outcome',
  /** How many attempts there were. */
  attempts: 'holdpoint.step.attempts',
  /** `allow`, `hold` or `deny`. */
  verdict: 'holdpoint.step.verdict',
  /** `confirmed` or `dry_run`: the tool did not return the result. */
  instead: 'holdpoint.step.instead',
  /** The step of the original run that had this outcome. */
  inheritedFrom: 'holdpoint.step.inherited_from',

  attempt: 'holdpoint.attempt.number',
  /** As the step's, or `lost`, `retried`, `deferred`, `held`, `indeterminate`. */
  attemptOutcome: 'holdpoint.attempt.outcome',
  /** Milliseconds that the tool itself ran. */
  toolMs: 'holdpoint.attempt.tool_ms',
  worker: 'holdpoint.worker.id',

  /** `queue`, `approval`, `question`, `task`, `calls` or `message`. */
  waitFor: 'holdpoint.wait.for',
  approvalId: 'holdpoint.approval.id',
  /** `action`, `input`, `indeterminate`, `publish` or `conflict`. */
  approvalKind: 'holdpoint.approval.kind',
  /** `approve`, `edit`, `reject` or `respond`; also `expired` and `canceled`. */
  decision: 'holdpoint.approval.decision',
  /** The name of the caller that decided, or of the rule's maker. */
  decidedBy: 'holdpoint.approval.decided_by',
  /** The remembered rule that decided. */
  ruleId: 'holdpoint.approval.rule_id',
  /** The rule that was made with the decision. */
  madeRule: 'holdpoint.approval.made_rule',
  /** The deadline passed, and the policy lets the call run then. */
  approvalExpired: 'holdpoint.approval.expired',
  votes: 'holdpoint.approval.votes',
  reminders: 'holdpoint.approval.reminders',

  taskId: 'holdpoint.task.id',
  /** `shell` or `agent`. */
  taskKind: 'holdpoint.task.kind',
  taskOutcome: 'holdpoint.task.outcome',
  /** The run of a sub-agent, or a fork. */
  childRunId: 'holdpoint.child_run.id',

  snapshot: 'holdpoint.workspace.snapshot',
  epoch: 'holdpoint.workspace.epoch',
  /** `materialise`, `take_over`, `capture`, `merge` or `discard`. */
  workspaceAction: 'holdpoint.workspace.action',
  workspaceReason: 'holdpoint.workspace.reason',
  files: 'holdpoint.workspace.files',
  bytes: 'holdpoint.workspace.bytes',
  filesChanged: 'holdpoint.workspace.files_changed',
  conflicts: 'holdpoint.workspace.conflicts',

  /** `published`, `conflicted`, `failed`, `rejected` or `discarded`. */
  publishOutcome: 'holdpoint.publish.outcome',
  validators: 'holdpoint.publish.validators',
  validatorsPassed: 'holdpoint.publish.validators_passed',

  /** Milliseconds of processor time of a command and its children. */
  commandCpuMs: 'holdpoint.command.cpu_ms',
  /** The most memory that a command and its children had at once. */
  commandMemoryBytes: 'holdpoint.command.memory_bytes',
  /** What a command printed, before it was cut. */
  commandOutputBytes: 'holdpoint.command.output_bytes',

  /** `bubblewrap` or `none`. */
  isolationDriver: 'holdpoint.isolation.driver',
  /** `enforced`, `partial` or `absent`, for each bound of the sandbox's report: `holdpoint.isolation.net`. */
  isolation: (bound: string) => `holdpoint.isolation.${bound}`,

  connections: 'holdpoint.network.connections',
  connectionsRefused: 'holdpoint.network.connections_refused',
  connectionsFailed: 'holdpoint.network.connections_failed',
  bytesUp: 'holdpoint.network.bytes_up',
  bytesDown: 'holdpoint.network.bytes_down',

  /** The class of a repair of the reconciler. */
  repairClass: 'holdpoint.repair.class',
  /** Why a span links to another: one of `linkType`. */
  linkType: 'holdpoint.link.type',
  linkedRunId: 'holdpoint.link.run_id',
} as const;

/** Why a span links to another one. */
export const linkType = {
  /** The step whose outcome, or the run whose past, a fork continues. */
  forkedFrom: 'forked_from',
  fork: 'fork',
  /** The run that a sub-agent works for. */
  worksFor: 'works_for',
  subAgent: 'sub_agent',
  /** The segment, or the life of the run, before this one. */
  previous: 'previous',
  /** The run whose changes are published. */
  run: 'run',
} as const;

/** The names of spans. They have few values: ids and numbers are attributes. */
export const spanName = {
  run: (operation: string, toolset: string) => `${operation} ${toolset}`,
  segment: (state: string) => `segment ${state}`,
  chat: (model: string) => `${genAiOperation.chat} ${model}`,
  plan: genAiOperation.plan,
  step: (tool: string) => `${genAiOperation.executeTool} ${tool}`,
  attempt: 'attempt',
  wait: (what: string) => `wait ${what}`,
  task: (kind: string) => `task ${kind}`,
  workspace: (action: string) => `workspace ${action}`,
  publish: 'publish',
  validate: 'publish validate',
} as const;
