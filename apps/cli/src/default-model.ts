import { describeModelProblem, ModelError, modelSettingsFrom } from '@holdpoint/models';

/** The model of prompts that name none, and why it cannot be asked. */
export interface DefaultModel {
  /** Undefined: HOLDPOINT_MODEL is not set. */
  name: string | undefined;
  problem: { message: string; next: string } | undefined;
}

/** What an environment says; no model is asked. */
export function defaultModelIn(environment: Readonly<Record<string, string>>): DefaultModel {
  try {
    const settings = modelSettingsFrom(environment);
    const name = settings.defaultModel;
    const problem = name === undefined ? null : describeModelProblem(name, settings);
    return { name, problem: problem ?? undefined };
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    return { name: environment.HOLDPOINT_MODEL, problem: { message: error.message, next: error.next } };
  }
}

/** `anthropic/claude-sonnet-4-5, its key is set` */
export function defaultModelText({ name, problem }: DefaultModel): string {
  if (problem !== undefined) return `${problem.message} ${problem.next}`;
  return name === undefined ? none : `${name}${name.startsWith('ollama/') ? '' : '; what it needs is set'}`;
}

const none = 'none: a prompt has to name one with --model (HOLDPOINT_MODEL=provider/model sets one)';
