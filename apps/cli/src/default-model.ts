import type { ApiBounds } from '@holdpoint/contract/wire';
import { describeModelProblem, ModelError, modelSettingsFrom } from '@holdpoint/models';

/** The model of prompts without a model, and the reason why the model is out of reach. */
export type DefaultModel = ApiBounds['model'];

/** The model in an environment; no model is asked. */
export function defaultModelIn(environment: Readonly<Record<string, string>>): DefaultModel {
  try {
    const settings = modelSettingsFrom(environment);
    const name = settings.defaultModel ?? null;
    return { name, problem: name === null ? null : describeModelProblem(name, settings) };
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    const { code, message, next } = error;
    return { name: environment.HOLDPOINT_MODEL ?? null, problem: { code, message, next } };
  }
}

/** `anthropic/claude-sonnet-4-5; its settings are complete` */
export function defaultModelText({ name, problem }: DefaultModel): string {
  if (problem !== null) return `${problem.message} ${problem.next ?? ''}`.trim();
  return name === null
    ? 'none: a prompt has to name one with --model (HOLDPOINT_MODEL=provider/model sets one)'
    : `${name}; its settings are complete`;
}
