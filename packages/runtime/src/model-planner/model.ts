import { hasNetwork } from '@holdpoint/contract';
import type { PastConversation, Planner, PlannerDecision, PlannerInput } from '@holdpoint/engine/worker';
import * as models from '@holdpoint/models';
import type { Secrets } from '@holdpoint/secrets';
import type { Registry } from '@holdpoint/tools';
import { type ModelPrices, usageOf } from '../adapters/generate-text.ts';
import { redactErrors } from '../adapters/redact-executor.ts';
import { type AskDeps, askPatiently, hasOtherModel } from './after-failure.ts';
import { type AskingDeps, askModel } from './ask-model.ts';
import { budgetOf, parts } from './context/budget.ts';
import { type BuiltRequest, buildRequest } from './context/build-request.ts';
import { compact } from './context/compact.ts';
import { ContextFullError, learnFrom, type SentTokens } from './context/refused.ts';
import { type InstructionSources, instruct } from './instructions/instruct.ts';
import { dueNotices, openTodos } from './notices/notice-table.ts';

interface Deps extends InstructionSources, AskingDeps {
  secrets: Secrets;
  /** Facts about a model. */
  describe: (model: string) => models.ModelFacts;
  now: () => number;
  asking: AskDeps;
}

/** A model decides the next turn from the goal and all earlier turns. Its whole answer goes into the log with the turn. */
export function createModelPlanner(deps: Deps): Planner {
  return {
    async next(input, signal) {
      const redactor = deps.secrets.redactor(input.scope.tenant);
      const history = await input.history();
      if (history.instructed === undefined) {
        const { window } = deps.describe(input.model);
        const instructed = await instruct(deps, input, {
          window,
          toolchains: history.toolchains,
          absent: history.absent,
          signal,
        });
        return { kind: 'instructed', instructed: redactor.json(instructed) };
      }
      const { system } = history.instructed;
      const own = requestTo(deps, input, history);
      const notified = input.modelWait === undefined ? noticesFor(deps, input, history, own.request) : undefined;
      if (notified !== undefined)
        return { kind: 'notified', notified: { ...notified, text: redactor.text(notified.text) } };
      // The model to ask may be a fallback, with a different window.
      const counting = { ...deps, model: countCuts(deps.model, deps.prices, input.recordUsed) };
      const send = (model: string) =>
        decide(
          counting,
          { ...input, model },
          {
            ...(model === input.model ? own : requestTo(deps, { ...input, model }, history)),
            ...{ history, system, instead: model !== input.model || undefined, signal },
            hasOther: hasOtherModel({ input, now: deps.asking.now() }, model),
          },
        );
      const asked = await redactErrors(redactor, () => askPatiently(deps.asking, input, send, signal));
      return 'decision' in asked ? redactor.json(asked.decision) : asked.answer;
    },
  };
}

interface Known {
  history: PastConversation;
  system: string;
  request: BuiltRequest;
  tools: readonly models.ModelTool[];
  instead: true | undefined;
  hasOther: boolean;
  signal: AbortSignal;
}

/** Asks the model for the next turn, or shortens the conversation before asking. @throws ModelError */
async function decide(
  deps: Deps,
  input: PlannerInput,
  { history, system, request, tools, instead, hasOther, signal }: Known,
): Promise<PlannerDecision> {
  const redactor = deps.secrets.redactor(input.scope.tenant);
  const facts = deps.describe(input.model);
  const sight = models.sightOf(facts);
  const budget = budgetOf(input, facts, history.compactions);
  const { goal } = input.spec;
  const options = goal.planner === 'model' ? goal.options : undefined;
  const like = {
    ...{ system, tools, cacheKey: input.runId },
    ...{ temperature: options?.temperature, reasoningEffort: options?.reasoning_effort },
  };
  const shortening = {
    ...{ model: deps.model, registry: deps.registry, workspaces: deps.workspaces, redactor, now: deps.now },
    usageOf: (answer: Pick<models.ModelAnswer, 'model' | 'usage'>) => usageOf(answer, deps.prices),
  };
  if (request.tokens * request.scale > budget.request * parts.full) {
    const compacted = await compact(shortening, {
      input,
      history,
      request,
      budget,
      like,
      sight,
      hasOther,
      signal,
    });
    if (compacted !== undefined) return { kind: 'compacted', compacted };
  }
  try {
    const taskTools = deps.registry.taskTools(input.spec.toolset);
    return await askModel(deps, input, {
      ...{ history, request, system, tools, taskTools, budget, redactor, instead, hasOther, sight, signal },
    });
  } catch (error) {
    if (!(error instanceof models.ModelError) || error.code !== 'EMODELCONTEXT') throw error;
    const shown = learnFrom(error, input.model, request);
    const smaller = budgetOf(input, { ...facts, window: shown.learned.window }, []);
    const given = {
      input,
      history,
      request: { ...request, scale: shown.scale },
      budget: smaller,
      like,
      sight,
      hasOther,
      signal,
    };
    const compacted = await compact(shortening, { ...given, learned: shown.learned });
    if (compacted === undefined)
      throw new ContextFullError(error, shown.learned, sentTokens(system, tools, request.fixed));
    return { kind: 'compacted', compacted };
  }
}

function sentTokens(system: string, tools: readonly models.ModelTool[], fixed: number): SentTokens {
  const [ofTools, instructions] = [Math.ceil(models.tokensOfTools(tools)), Math.ceil(models.tokensOf(system))];
  return { tools: ofTools, instructions, rest: Math.max(0, Math.ceil(fixed) - ofTools - instructions) };
}

/** The tools, and what the model sees, depend on the model to ask. */
function requestTo({ registry, describe }: Deps, input: PlannerInput, history: PastConversation) {
  const tools = toolsOf(registry, input);
  const system = history.instructed?.system ?? '';
  const sight = models.sightOf(describe(input.model));
  return { tools, request: buildRequest(registry, input, history, { system, tools, sight }) };
}

/** While the run waits for a model, the request stays the same. */
function noticesFor(deps: Deps, input: PlannerInput, history: PastConversation, request: BuiltRequest) {
  const { registry } = deps;
  const { toolset } = input.spec;
  const budget = budgetOf(input, deps.describe(input.model), history.compactions);
  const facts = {
    ...{ news: history.news, budgets: input.budgets, turn: input.turn, waits: registry.taskTools(toolset).waits },
    todos: openTodos(registry, toolset, history.turns, request.carried.lists),
    fullness: (request.tokens * request.scale) / (budget.request * parts.full),
    summaries: history.compactions.filter(({ how }) => how === 'summarised').length,
  };
  return dueNotices(facts, history.given);
}

/** By the versions of a toolset, which are another object once its tools are others. */
const toolLists = new WeakMap<object, Map<string, readonly models.ModelTool[]>>();

/** The same list for all requests of a run to a model. */
export function toolsOf(registry: Registry, { spec, unattended, model }: PlannerInput): readonly models.ModelTool[] {
  const { toolset, tools, settings } = spec;
  const network = hasNetwork(spec.network);
  const versions = registry.versions(toolset);
  const known = toolLists.get(versions) ?? new Map<string, readonly models.ModelTool[]>();
  toolLists.set(versions, known);
  // A run that names its tools is offered all of them.
  const remembers = !unattended && spec.goal.planner === 'model' && spec.goal.context?.memory === true;
  const chosen =
    tools === undefined ? { model, settings, network, remembers, plans: spec.modes.plan !== undefined } : {};
  const key = JSON.stringify([unattended, toolset, tools ?? null, chosen]);
  const list =
    known.get(key) ??
    registry.offer(toolset, { unattended, ...chosen }).filter(({ name }) => tools?.includes(name) !== false);
  known.set(key, list);
  return list;
}

type Used = Parameters<PlannerInput['recordUsed']>[0];

/** A model that records the tokens of each stream that was cut, before the request fails. */
function countCuts(model: models.Model, prices: ModelPrices, record: PlannerInput['recordUsed']): models.Model {
  return {
    async generate(request) {
      const cut: Used[] = [];
      try {
        return await model.generate({
          ...request,
          onCut({ usage, estimated }) {
            const used = usageOf({ model: request.model, usage }, prices);
            cut.push({ model: request.model, why: 'cut_off', usage: used, estimated });
          },
        });
      } catch (error) {
        // Where Redis is away as well, the caller needs the error of the request more than the count.
        for (const one of cut) await record(one).catch(() => {});
        throw error;
      }
    },
  };
}
