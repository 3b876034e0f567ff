import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import * as contract from '@holdpoint/contract';
import type { PastTurn, Planner, PlannerDecision, PlannerInput, WorkspacePort } from '@holdpoint/engine/worker';
import { describeFailure, type ModelAnswer, type ModelSettings, providerAddressOf } from '@holdpoint/models';
import * as outsideAgents from '@holdpoint/outside-agents';
import { readablePaths } from '@holdpoint/policy';
import type { Sandbox, WorkspaceMount } from '@holdpoint/sandbox';
import type { Secrets } from '@holdpoint/secrets';
import type { Registry } from '@holdpoint/tools';
import type { Workspaces } from '@holdpoint/workspace';
import { type ModelPrices, usageOf } from '../adapters/generate-text.ts';
import { runConversation } from '../adapters/run-conversation.ts';
import { type Live, liveAnswer } from '../live/live-hub.ts';
import { type AskDeps, askPatiently } from '../model-planner/after-failure.ts';
import { freshCap } from '../model-planner/conversation.ts';
import { toolsOf } from '../model-planner/model.ts';
import { tellOfOpenTasks } from '../model-planner/open-tasks.ts';
import { readAnswer } from '../model-planner/read-answer.ts';
import { leftOverText } from './left-over.ts';
import { endedCalls, recorded, savedSession, toRecord, untoldCalls } from './recorded-session.ts';
import type { RunningAgents } from './running-agents.ts';
import { againText, noticesFor, resultsOf, resumeText, retell, systemText } from './story.ts';

interface Deps {
  registry: Registry;
  sandbox: Sandbox;
  workspaces: Pick<Workspaces, 'locate' | 'newestEpoch'>;
  trees: Pick<WorkspacePort, 'differenceFrom'>;
  secrets: Secrets;
  settings: ModelSettings;
  fetch: typeof globalThis.fetch;
  prices: ModelPrices;
  agents: RunningAgents;
  live: Live;
  dataDir: string;
  version: string;
  asking: AskDeps;
}

/**
 * An agent of others decides the next turn: it runs in the run's sandbox with its own tools off, and its calls of our tools are the calls of the turn. Its
 * session goes into the log with each turn, so another worker continues it.
 */
export function createAgentPlanner(deps: Deps): Planner {
  return {
    async next(input, signal) {
      const redactor = deps.secrets.redactor(input.scope.tenant);
      const notified =
        input.modelWait === undefined ? noticesFor(deps.registry, input, await input.history()) : undefined;
      if (notified !== undefined)
        return { kind: 'notified', notified: { ...notified, text: redactor.text(notified.text) } };
      try {
        const asked = await askPatiently(deps.asking, input, () => nextTurn(deps, input, signal), signal);
        return 'decision' in asked ? asked.decision : asked.answer;
      } catch (error) {
        if (!(error instanceof outsideAgents.AgentError)) throw error;
        const { message, ...reason } = reasonOf(input, error);
        const all = [message, await leftOverText(deps, input)].filter((text) => text !== undefined).join(' ');
        return { kind: 'unavailable', reason: redactor.json({ ...reason, message: all }) };
      }
    },
  };
}

/** @throws AgentError; ModelError when its provider is away, or takes no requests now */
async function nextTurn(deps: Deps, input: PlannerInput, signal: AbortSignal): Promise<PlannerDecision> {
  const story = await readStory(deps, input);
  const waiting = await deps.agents.take(input.runId, recorded(story.turns).at(-1)?.state);
  const isAnswered = waiting !== undefined && story.results.length > 0;
  if (isAnswered) waiting.answer(await withImages(input, story.results), story.words);
  else await waiting?.end();
  const agent = isAnswered ? waiting : await begin(deps, input, story);
  try {
    return await takeTurn(deps, input, { agent, story, signal });
  } catch (error) {
    if (!(error instanceof outsideAgents.AgentError)) throw error;
    throwIfAway(deps, input, error);
    if (isAnswered || story.saved === undefined || agent.hasActed) throw error;
    // The agent cannot load its session: it begins a new one.
    const fresh = await begin(deps, input, { ...story, saved: undefined });
    return takeTurn(deps, input, { agent: fresh, story, signal });
  }
}

/** The agent has tried again in its own way before it ended. The run waits as it does for a model of its own loop. */
function throwIfAway({ settings, asking }: Deps, { model }: PlannerInput, { failure }: outsideAgents.AgentError): void {
  if (failure === undefined) return;
  const error = describeFailure({ now: asking.now, settings }, failure, model);
  if (error.retryable) throw error;
}

export type { Deps as AgentDeps };

/** The run up to this turn, and the texts that its agent has not read. */
interface Story {
  turns: readonly PastTurn[];
  saved: outsideAgents.SavedSession | undefined;
  /** The results of the calls of the last turn. */
  results: ReturnType<typeof resultsOf>;
  /** Messages of people, and notes of Holdpoint. */
  words: readonly string[];
  hasNews: boolean;
}

export async function readStory(
  { registry, secrets }: Deps,
  { spec, scope, history, warned }: PlannerInput,
): Promise<Story> {
  const redactor = secrets.redactor(scope.tenant);
  const { turns, unread, notified } = await history();
  const last = turns.at(-1);
  const words = [last?.note?.text, ...unread, ...notified, warned].filter((text) => text !== undefined);
  const results = last === undefined ? [] : resultsOf(registry, spec, last, freshCap);
  const read = { results: redactor.json(results), words: redactor.json(words) };
  return { turns, saved: savedSession(turns), ...read, hasNews: unread.length > 0 };
}

/** Waits for the agent's next calls or its answer. An agent that failed is ended. @throws AgentError */
async function takeTurn(
  deps: Deps,
  input: PlannerInput,
  {
    agent,
    story: { turns, hasNews },
    signal,
  }: { agent: outsideAgents.AgentProcess; story: Story; signal: AbortSignal },
): Promise<PlannerDecision> {
  try {
    using shown = liveAnswer(deps.live, deps.secrets.redactor(input.scope.tenant), input);
    const turn = await agent.next({
      signal,
      onText: (text) => shown.onDelta({ type: 'text', text }),
      whyOver: (used) => whyOver(deps, input, used),
      holds: ({ tool, args }) => input.wouldHold({ tool, args: args as contract.Json }),
    });
    const decision = await decide(deps, input, { turn, past: turns, hasNews });
    if (decision.kind === 'calls' && !turn.isOver) deps.agents.keep(input.runId, agent);
    else await agent.end();
    return decision.kind === 'finish' ? withLeftOver(deps, input, decision) : decision;
  } catch (error) {
    await agent.end();
    const usage = agent.takeUsed();
    if (usage.input_tokens + usage.output_tokens > 0) {
      const used = usageOf({ model: input.model, usage }, deps.prices);
      await input.recordUsed({ model: input.model, why: 'superseded', usage: used, estimated: [] });
    }
    throw error;
  }
}

/** The agent's answer, and Holdpoint's words about files that no snapshot has. The agent has ended, so nothing writes any more. */
async function withLeftOver<Decision extends { message: string }>(
  deps: Deps,
  input: PlannerInput,
  decision: Decision,
): Promise<Decision> {
  const text = await leftOverText(deps, input);
  if (text === undefined) return decision;
  const said = deps.secrets.redactor(input.scope.tenant).text(`[Holdpoint: ${text}]`);
  return { ...decision, message: `${decision.message}\n\n${said}` };
}

/** A fork may narrow what its run can do. Nothing but the sandbox holds the own tools of an agent. */
const isNarrowed = ({ permissions, modes }: PlannerInput['spec']): boolean =>
  permissions !== undefined || contract.readsOnly(modes) || modes.dry_run || modes.deterministic;
const tooNarrow =
  'An agent with its own tools cannot be held to permissions or modes. Fork the run without them, or submit it without :native.';

/**
 * Starts the agent from its session in the log.
 * @param again the call of its own tools that it has to make again: its step waits for it
 */
export async function begin(
  deps: Deps,
  input: PlannerInput,
  { turns, saved, words }: Pick<Story, 'turns' | 'saved' | 'words'>,
  again?: outsideAgents.CallAgain,
): Promise<outsideAgents.AgentProcess> {
  const { registry, sandbox, secrets, settings, fetch, version, agents } = deps;
  const { spec, model } = input;
  const { goal } = spec;
  if (goal.planner !== 'model' || goal.outside_agent === undefined) throw new TypeError('the run has no outside agent');
  const native = contract.nativeToolset(goal.outside_agent) !== undefined;
  const mount = await mountOf(deps, input, { native });
  const own = (await sandbox.runtimes(mount)).find(({ isOwn }) => isOwn);
  const told = retell(registry, spec, goal.prompt, turns);
  const retold = [secrets.redactor(input.scope.tenant).text(told), ...words].join('\n\n');
  const ended = secrets.redactor(input.scope.tenant).json(endedCalls(registry, spec, turns));
  const untold = saved === undefined ? [] : untoldCalls(goal.outside_agent, { turns, saved, ended });
  const resumed = saved === undefined ? retold : resumeText(untold, words);
  // A start from an open call has no prompt, so it cannot bring results of earlier turns.
  const isDeferred = saved?.isDeferred === true && untold.every(({ turn }) => turn === turns.at(-1)?.turn);
  const prompt = again === undefined ? resumed : `${resumed}\n\n${againText(again)}`.trim();
  const inside: outsideAgents.RunInside = ({ limits = {}, ...command }, talk, stop) =>
    runConversation(sandbox, { ...command, limits, workspace: mount, signal: stop, stop, label: undefined }, talk);
  const agent = new outsideAgents.AgentProcess(
    inside,
    {
      ...{ agent: goal.outside_agent, prompt, retold, session: saved && { ...saved, isDeferred }, untold, version },
      system: systemText({ system: goal.system, modes: spec.modes, native }),
      native: native ? { ended: new Map(ended.map(({ id, result }) => [id, result])), again, words } : undefined,
      address: providerAddressOf(model, settings),
      tools: toolsOf(registry, input),
      node: own?.path ?? 'node',
    },
    fetch,
  );
  agents.add(agent);
  return agent;
}

/** The run's tree, read-only but for an agent with its own tools. With restricted reads an empty folder: the agent's own reads are judged by no policy. */
async function mountOf(
  { workspaces, dataDir }: Deps,
  { runId, spec }: PlannerInput,
  { native }: { native: boolean },
): Promise<WorkspaceMount> {
  if (native && isNarrowed(spec)) throw new outsideAgents.AgentError(tooNarrow);
  const epoch = await workspaces.newestEpoch(runId);
  const { path, owner, repository, sourceFolders, outputs } = await workspaces.locate({ runId, epoch });
  const mount = { id: runId, path, uid: owner.uid, gid: owner.gid, readOnly: !native };
  if (readablePaths(spec.permissions) === undefined) return { ...mount, repository, sourceFolders, outputs };
  const empty = join(dataDir, 'empty');
  await mkdir(empty, { recursive: true, mode: 0o755 });
  return { ...mount, path: empty };
}

interface Planned {
  turn: outsideAgents.AgentTurn;
  past: readonly PastTurn[];
  hasNews: boolean;
}

async function decide(
  { registry, prices, secrets }: Deps,
  input: PlannerInput,
  { turn, past, hasNews }: Planned,
): Promise<PlannerDecision> {
  const { text, calls, usage, session } = turn;
  const redactor = secrets.redactor(input.scope.tenant);
  const said: Omit<ModelAnswer, 'provider'> = {
    ...{ model: input.model, text, usage },
    calls: calls.map(({ id, tool, args }) => ({ id, tool, args: args as ModelAnswer['calls'][number]['args'] })),
    finish: calls.length > 0 ? 'tool_calls' : 'stop',
  };
  const provider = { agent: toRecord(session) };
  const decision = readAnswer({
    answer: { ...redactor.json(said), provider },
    given: { ...said, provider },
    ...{ answered: {}, usage: usageOf(said, prices), past, hasNews },
  });
  if (decision.kind === 'calls') {
    const errors = new Map(calls.flatMap(({ id, error }) => (error === undefined ? [] : [[id, redactor.json(error)]])));
    const withErrors = decision.calls.map((call) => ({ ...call, error: call.error ?? errors.get(call.call_id ?? '') }));
    return { ...decision, calls: withErrors };
  }
  const tasks = decision.kind === 'finish' && input.openTasks > 0 ? redactor.json(await input.listOpenTasks()) : [];
  const { waits, ends } = registry.taskTools(input.spec.toolset);
  const tools = toolsOf(registry, input);
  const known = (tool: string | undefined) => tools.find(({ name }) => name === tool);
  return tellOfOpenTasks(decision, { tasks, past, tools: { waits: known(waits), ends: known(ends) } });
}

type Results = Story['results'];

async function withImages(input: PlannerInput, results: Results): Promise<Results> {
  const loaded = (result: Results[number]) =>
    Promise.all(
      (result.images ?? []).map(async (image) => {
        if (image.kept === undefined) return image;
        const bytes = await input.readContent(image.kept.sha256).catch(() => undefined);
        return bytes === undefined ? undefined : { ...image, data: bytes.toString('base64') };
      }),
    );
  return Promise.all(
    results.map(withPdfText).map(async (result) => ({
      ...result,
      images: (await loaded(result)).filter((image) => image !== undefined),
    })),
  );
}

/** The protocol has no place for a PDF: an agent reads the text. */
function withPdfText(result: Results[number]): Results[number] {
  const images = result.images?.filter(({ pages }) => pages === undefined) ?? [];
  const texts = result.images?.flatMap(({ text }) => (text === undefined ? [] : [text])) ?? [];
  return { ...result, text: [result.text, ...texts].join('\n'), images };
}

/** The limits of the run hold within a turn, too: an agent may ask its model many times before it makes a call. */
export function whyOver(
  { prices }: Pick<Deps, 'prices'>,
  { model, budgets }: PlannerInput,
  usage: ModelAnswer['usage'],
): string | undefined {
  const { cost_micros = 0 } = usageOf({ model, usage }, prices);
  const now = { max_tokens: usage.input_tokens + usage.output_tokens, max_cost_usd: cost_micros / 1e6 };
  const over = budgets.find(
    ({ limit, used, most }) => (limit === 'max_tokens' || limit === 'max_cost_usd') && used + now[limit] >= most,
  );
  return over && `The run has used its limit ${over.limit} (${over.most}).`;
}

export function reasonOf(
  { spec: { goal } }: PlannerInput,
  { message, code }: outsideAgents.AgentError,
): contract.Problem {
  const agent = goal.planner === 'model' ? (goal.outside_agent ?? '') : '';
  if (message === 'ENOENT') {
    const known = contract.outsideAgentName(agent);
    const name = known && contract.outsideAgents[known].package;
    return {
      code: 'EAGENTMISSING',
      message: `The program of the agent ${agent} is not in the sandbox of the run.`,
      next:
        name === undefined
          ? 'Install it in a folder that HOLDPOINT_TOOLCHAINS names, restart the workers and resume the run.'
          : `Install it for the workers (npm install --global --prefix DIR ${name}, with DIR in HOLDPOINT_TOOLCHAINS), restart them and resume the run.`,
    };
  }
  if (code !== undefined)
    return {
      code,
      message: `The agent ${agent} did not keep to its gate. ${message}`,
      next: 'Resume the run to continue from its last recorded turn: the snapshot after the next call has every change that is there then. Or cancel the run: nothing of such a change is published.',
    };
  return {
    code: 'EAGENTFAILED',
    message: `The agent ${agent} ended without an answer. ${message}`,
    next: 'Correct what it names and resume the run: the agent continues from its last recorded turn. docs/agents.md has what each agent needs.',
  };
}
