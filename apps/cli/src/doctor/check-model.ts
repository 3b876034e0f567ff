import { defaultModelIn, defaultModelText } from '../default-model.ts';
import type { Config } from '../shell/index.ts';
import type { Finding } from './finding.ts';

/** The model of prompts that name none, by the environment of this command; the system may have been started with another one. */
export function checkModel({ environment }: Pick<Config, 'environment'>): Finding {
  const model = defaultModelIn(environment);
  const name = 'model';
  if (model.problem !== undefined) {
    return { name, level: 'warn', text: `HOLDPOINT_MODEL: ${model.problem.message}`, next: model.problem.next };
  }
  return { name, level: 'ok', text: defaultModelText(model) };
}
