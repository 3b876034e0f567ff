import type { Planner, PlannerInput } from '@holdpoint/engine/worker';
import type { Model } from '@holdpoint/models';
import type { Secrets } from '@holdpoint/secrets';
import type { Registry, TextThreads } from '@holdpoint/tools';
import { type ModelPrices, usageOf } from '../adapters/model-usage.ts';
import { redactErrors } from '../adapters/redact-executor.ts';
import { liveAnswer } from '../live/live-answer.ts';
import type { Live } from '../live/live-hub.ts';
import { type AskDeps, askModel } from './ask-model.ts';
import { conversation } from './conversation.ts';
import { readFinalOutput } from './final-output.ts';
import { tellOfOpenTasks } from './open-tasks.ts';
import { readAnswer } from './read-answer.ts';
import { systemText } from './system-text.ts';

interface Deps {
  model: Model;
  registry: Registry;
  secrets: Secrets;
  prices: ModelPrices;
  texts: TextThreads;
  live: Live;
  asking: AskDeps;
}

/** A model decides the next turn from the goal and everything that happened so far. Its whole answer goes into the log with the turn. */
export function createModelPlanner({ model, registry, secrets, prices, texts, live, asking }: Deps): Planner {
  return {
    async next(input, signal) {
      const { goal, toolset } = input.spec;
      if (goal.planner !== 'model') throw new TypeError('the run has no prompt');
      const history = await input.history();
      const redactor = secrets.redactor(input.scope.tenant);
      const tools = registry.list(toolset, { unattended: input.unattended });
      const request = {
        system: systemText(registry, input),
        messages: redactor.json(conversation(registry, input.spec, goal.prompt, history)),
        tools: tools.map(({ name, description, input_schema }) => ({ name, description, parameters: input_schema })),
        ...optionsOf(input),
        signal,
      };
      const send = async (name: string) => {
        using shown = liveAnswer(live, redactor, { runId: input.runId, turn: input.turn, model: name });
        return await redactErrors(redactor, () =>
          model.generate({ ...request, model: name, onDelta: shown.onDelta }),
        );
      };
      const asked = await askModel(asking, input, send, signal);
      if ('decision' in asked) return redactor.json(asked.decision);
      const { answered: by, ...answer } = redactor.json(asked.answer);
      const other = asked.model === input.model ? undefined : asked.model;
      const answered = { ...by, asked: other, finish_reason: answer.finish };
      const past = history.turns;
      const hasNews = history.unread.length > 0;
      const usage = usageOf(answer, prices);
      const decision = readAnswer({ answer, given: asked.answer, usage, answered, past, hasNews });
      const tasks = decision.kind === 'finish' && input.openTasks > 0 ? await input.listOpenTasks() : [];
      const told = redactor.json(tellOfOpenTasks(decision, { tasks, past, tools }));
      if (goal.output_schema === undefined) return told;
      const ofRun = texts.of(input.runId, signal);
      return readFinalOutput(told, { schema: goal.output_schema, past: hasNews ? [] : past, texts: ofRun });
    },
  };
}

function optionsOf({ spec: { goal } }: PlannerInput) {
  const options = goal.planner === 'model' ? goal.options : undefined;
  const { max_output_tokens, temperature, reasoning_effort } = options ?? {};
  return { maxOutputTokens: max_output_tokens, temperature, reasoningEffort: reasoning_effort };
}
