import type { Planner } from '@holdpoint/engine/worker';
import type { Model } from '@holdpoint/models';
import type { Secrets } from '@holdpoint/secrets';
import type { Registry } from '@holdpoint/tools';
import { type ModelPrices, usageOf } from '../adapters/model-usage.ts';
import { redactErrors } from '../adapters/redact-executor.ts';
import { conversation } from './conversation.ts';
import { readAnswer } from './read-answer.ts';
import { systemText } from './system-text.ts';

interface Deps {
  model: Model;
  registry: Registry;
  secrets: Secrets;
  prices: ModelPrices;
}

/** A model decides the next turn from the goal and everything that happened so far. Its whole answer goes into the log with the turn. */
export function createModelPlanner({ model, registry, secrets, prices }: Deps): Planner {
  return {
    async next(input, signal) {
      const { goal, toolset } = input.spec;
      if (goal.planner !== 'model') throw new TypeError('the run has no prompt');
      const history = await input.history();
      const redactor = secrets.redactor(input.scope.tenant);
      const given = await redactErrors(redactor, () =>
        model.generate({
          model: input.model,
          system: systemText(registry, input),
          messages: redactor.json(conversation(registry, input.spec, goal.prompt, history)),
          tools: registry
            .list(toolset, { unattended: input.unattended })
            .map(({ name, description, input_schema }) => ({ name, description, parameters: input_schema })),
          signal,
        }),
      );
      const { answered: by, ...answer } = redactor.json(given);
      const answered = { ...by, finish_reason: answer.finish };
      return readAnswer({ answer, given, usage: usageOf(answer, prices), answered });
    },
  };
}
