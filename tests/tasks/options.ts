import { parseArgs } from 'node:util';
import type { NamedTask } from './all.ts';

interface Options {
  /** provider/model; undefined: the scripted experts. */
  model: string | undefined;
  tasks: readonly NamedTask[];
}

/** @throws with the known names, when no task has a given name */
export function readOptions(argv: string[], all: readonly NamedTask[]): Options {
  const { values, positionals } = parseArgs({
    args: argv,
    options: { model: { type: 'string' } },
    allowPositionals: true,
  });
  const names = all.map(({ name }) => name);
  const unknown = positionals.filter((name) => !names.includes(name));
  if (unknown.length > 0) throw new Error(`There is no task ${unknown.join(', ')}. The tasks are: ${names.join(', ')}`);
  const tasks = positionals.length === 0 ? all : all.filter(({ name }) => positionals.includes(name));
  return { model: values.model, tasks };
}

/** The settings of models that a user has in the environment. Without them a run has no key. */
export const modelSettings = (env: NodeJS.ProcessEnv): Record<string, string> =>
  Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) =>
      value !== undefined && /^(HOLDPOINT_MODEL|(OPENAI|OPENAI_COMPATIBLE|ANTHROPIC|GEMINI|GOOGLE|OLLAMA)_)/.test(name)
        ? [[name, value]]
        : [],
    ),
  );
