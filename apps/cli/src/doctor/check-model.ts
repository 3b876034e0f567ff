import { type DefaultModel, defaultModelIn, defaultModelText } from '../default-model.ts';
import type { Config } from '../shell/index.ts';
import type { Finding } from './finding.ts';

/** The model of prompts without a model: from the running API, otherwise from a start with this environment. */
export function checkModel({ environment }: Pick<Config, 'environment'>, running: DefaultModel | undefined): Finding {
  const model = running ?? defaultModelIn(environment);
  const name = 'model';
  if (model.problem === null) return { name, level: 'ok', text: defaultModelText(model) };
  const { message, next } = model.problem;
  return { name, level: 'warn', text: `HOLDPOINT_MODEL: ${message}`, ...(next !== undefined && { next }) };
}
