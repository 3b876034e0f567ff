import { allowedModels, defaultTenant, type Goal, type Json, type RunSpec, type TreeUsage } from '@holdpoint/contract';
import type { Run, RunDetail } from '@holdpoint/contract/wire';
import * as engine from '@holdpoint/engine';

/** The API's view of a run. */
export function toRun(run: engine.RunState, now = Date.now()): Run {
  const { header } = run;
  return {
    id: run.id,
    title: header.title,
    status: run.status,
    toolset: header.toolset,
    planner: header.planner,
    model: run.model ?? header.model ?? null,
    labels: header.labels,
    priority: header.priority ?? 'normal',
    dry_run: header.dry_run ?? false,
    seq: run.seq,
    turn: run.turn,
    open_steps: run.open,
    pending_approvals: run.parked + (run.agents_total?.approvals ?? 0),
    paused_agents: run.agents_total?.paused ?? 0,
    blocker: run.agents_total?.blocker ?? null,
    open_tasks: run.open_tasks,
    messages: run.messages,
    usage: usageOf(run, now),
    context: contextOf(run),
    instructions: run.instructions ?? [],
    parent: run.parent ? { run_id: run.parent.run_id, task_id: run.parent.task_id } : null,
    message: run.message ?? null,
    reason: run.reason ?? null,
    model_wait: toModelWait(run),
    workspace: { base: run.base ?? null, snapshot: run.snapshot ?? null, absent: run.absent ?? null },
    publication: toPublication(run),
    mark: run.mark ?? null,
    forked_from: run.forked_from ? { run_id: run.forked_from.run_id, step_id: run.forked_from.step_id } : null,
    created_by: run.created_by ?? null,
    tenant: run.tenant ?? defaultTenant,
    created_at: run.created_at,
    started_at: run.started_at ?? null,
    ended_at: run.ended_at ?? null,
  };
}

const contextOf = ({ context_tokens, window, compactions }: engine.RunState): Run['context'] =>
  context_tokens === undefined && window === undefined && compactions === 0
    ? null
    : { tokens: context_tokens ?? null, window: window ?? null, compactions };

/** @param agents the unfinished sub-agents. @param current the operator's present policy. @param place why it stands in line */
export function toRunDetail(
  run: engine.RunState,
  spec: RunSpec,
  {
    agents,
    current,
    output,
    place,
  }: {
    agents: readonly engine.RunState[];
    current: engine.OperatorInForce | undefined;
    output: Json;
    place: engine.PlaceWait | undefined;
  },
): RunDetail {
  const {
    goal,
    settings,
    source,
    policy,
    limits,
    network,
    permissions = null,
    modes,
    secrets = [],
    validators,
    publish,
    agents: kinds = [],
    agent = null,
    tools = null,
    prepare = null,
  } = spec;
  const models = allowedModels(spec);
  const operator_policies = engine.withCurrent(spec, current).map(({ document, digest, version }) => {
    return { digest, version: version ?? null, policy: document };
  });
  const granted = { network, permissions, protected: spec.protected, modes, secrets };
  const policies = { policy, policy_pin: spec.policy_pin ?? null, operator_policies };
  const bound = { ...policies, limits, models, agents: kinds, agent, tools, ...granted };
  const request = { ...askedOf(goal), prepare, settings, source, ...bound, validators, publish };
  const waits_for =
    place && ({ kind: 'place', ahead: place.ahead, in_progress: place.inProgress, of: place.of } as const);
  return { ...toRun(run), output, waits_for, waiting_for: agents.flatMap(waitingFor), request };
}

/** The request to a model, with its options; for other goals: nothing. */
function askedOf(goal: Goal) {
  if (goal.planner !== 'model') return notAsked;
  const {
    prompt,
    system = null,
    instructions = true,
    context,
    images = [],
    fallbacks = [],
    options = {},
    output_schema = null,
    outside_agent = null,
  } = goal;
  return {
    prompt,
    system,
    instructions,
    context,
    images: images.length,
    fallbacks,
    options,
    output_schema,
    outside_agent,
  };
}

const notAsked = {
  prompt: null,
  system: null,
  instructions: false,
  images: 0,
  fallbacks: [],
  options: {},
  output_schema: null,
  outside_agent: null,
};

function toModelWait(run: engine.RunState): Run['model_wait'] {
  if (run.model_wait === undefined || !engine.isWaitingForModel(run)) return null;
  const { left: _, tries: __, queued: ___, ...wait } = run.model_wait;
  return wait;
}

/** A sub-agent in wait for a person. A sub-agent in wait for another sub-agent alone is left out: the list names the other. */
function waitingFor({ id, status, parent, header, reason, parked }: engine.RunState): RunDetail['waiting_for'] {
  if (parent === undefined || (status !== 'paused' && (status !== 'waiting' || parked === 0))) return [];
  const { task_id } = parent;
  return [{ task_id, run_id: id, title: header.title, status, reason: reason ?? null, approvals: parked }];
}

function usageOf(run: engine.RunState, now: number): Run['usage'] {
  const all = engine.usedByTree(run, now);
  const ofAgents = run.agents_total?.used ?? engine.noUsage;
  return {
    ...figures(all),
    active_ms: all.wall_ms,
    agents: { ...figures(ofAgents), active_ms: ofAgents.active_ms, count: all.agents },
  };
}

const figures = ({ steps, input_tokens, output_tokens, cached_input_tokens, cost_micros }: TreeUsage) => ({
  ...{ steps, input_tokens, output_tokens, cached_input_tokens },
  cost_usd: cost_micros / 1e6,
});

function toPublication(run: engine.RunState): Run['publication'] {
  const { publication: status, publication_detail: detail = {} } = run;
  return {
    status,
    published: detail.published ?? null,
    conflicts: detail.conflicts ?? [],
    reason: detail.reason ?? null,
    approval_id: status === 'parked' ? (run.publish_approval ?? null) : null,
  };
}
