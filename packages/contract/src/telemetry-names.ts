/**
 * The names of attributes, operations and spans, once each.
 *
 * GenAI names follow version 0.1.0 of OpenTelemetry's GenAI conventions, general names version 1.45.0 of its semantic conventions (the npm
 * package `@opentelemetry/semantic-conventions` 1.45.0, `/incubating`). Both are in development, so a new version is a change of this file.
 * Names outside of the conventions begin with `holdpoint.`. A comment marks the names of attributes with content.
 */
export const genAi = {
  operation: 'gen_ai.operation.name',
  provider: 'gen_ai.provider.name',
  /** The toolset: its tools are the agent's abilities, so the toolset is the agent's kind. */
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
  /** A turn decided by a model. */
  chat: 'chat',
  /** A turn decided by a plan or a caller. */
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
  /** From 1. A retry after the end of a run adds 1. */
  runLife: 'holdpoint.run.life',
  /** On events of a run: the reason of the pause before, and the number of undone steps. */
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
  /** The reason of a wait (`approval`, `task`, `calls`), or the code of the reason of a pause. */
  segmentReason: 'holdpoint.segment.reason',

  /** The way in which a summary of the conversation was made. Only on the request for a summary. */
  compaction: 'holdpoint.context.compaction',

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
  /** The step of the original run with this outcome. */
  inheritedFrom: 'holdpoint.step.inherited_from',

  attempt: 'holdpoint.attempt.number',
  /** As the step's, or `lost`, `retried`, `deferred`, `held`, `indeterminate`. */
  attemptOutcome: 'holdpoint.attempt.outcome',
  /** Milliseconds of the tool's own execution. */
  toolMs: 'holdpoint.attempt.tool_ms',
  worker: 'holdpoint.worker.id',

  /** `queue`, `approval`, `question`, `task`, `calls` or `message`. */
  waitFor: 'holdpoint.wait.for',
  approvalId: 'holdpoint.approval.id',
  /** `action`, `input`, `indeterminate`, `publish` or `conflict`. */
  approvalKind: 'holdpoint.approval.kind',
  /** `approve`, `edit`, `reject` or `respond`; also `expired` and `canceled`. */
  decision: 'holdpoint.approval.decision',
  /** The name of the deciding caller, or of the rule's maker. */
  decidedBy: 'holdpoint.approval.decided_by',
  /** The deciding remembered rule. */
  ruleId: 'holdpoint.approval.rule_id',
  /** The rule made with the decision. */
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
  /** The peak memory of a command and its children. */
  commandMemoryBytes: 'holdpoint.command.memory_bytes',
  /** The output of a command before the cut. */
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
  /** The reason of a link between spans, from `linkType`. */
  linkType: 'holdpoint.link.type',
  linkedRunId: 'holdpoint.link.run_id',
} as const;

/** Reasons of links between spans. */
export const linkType = {
  /** The step whose outcome, or the run whose past, a fork continues. */
  forkedFrom: 'forked_from',
  fork: 'fork',
  /** The parent run of a sub-agent. */
  worksFor: 'works_for',
  subAgent: 'sub_agent',
  /** The segment, or the life of the run, before the present. */
  previous: 'previous',
  /** The turn of a step that outlived the turn's segment. */
  turn: 'turn',
  /** The run whose changes are published. */
  run: 'run',
} as const;

/** The names of spans. They have few values: ids and numbers are attributes. */
export const spanName = {
  run: (operation: string, toolset: string) => `${operation} ${toolset}`,
  submission: (toolset: string) => `submit ${toolset}`,
  segment: (state: string) => `segment ${state}`,
  turn: 'turn',
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
