import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from '@holdpoint/client';
import { tokensOf } from '../../bench/token-count.ts';
import type { NamedTask } from './all.ts';
import { judge } from './judge.ts';
import { type Solved, solve } from './solve.ts';
import { makeRepository } from './trees.ts';

/** Turns, tokens and questions that a task took. */
export interface Outcome {
  task: string;
  solved: boolean;
  turns: number;
  holds: number;
  cost: number;
  /** Tokens of all requests. */
  read: number;
  /** Tokens of all results, each counted once, as texts and as JSON of their values; `readAsJson`: of all requests with the latter. */
  results?: Results;
  /** Why the task is not solved, or is no good task. */
  problems: string[];
}

export interface Results {
  asText: number;
  asJson: number;
  readAsJson: number;
  /** The results of each tool. */
  byTool: readonly { tool: string; count: number; asText: number; asJson: number }[];
}

interface Trying {
  client: Client;
  /** For repositories and trees. */
  directory: string;
  /** provider/model. @default the scripted expert */
  model?: string | undefined;
  /** The texts of the results as the model read them; absent: not known. */
  resultsOf?: ((task: NamedTask) => readonly string[]) | undefined;
}

/** Has a task solved by the model of a system, and judges the solution by the hidden validator. */
export async function tryTask({ client, directory, model, resultsOf }: Trying, task: NamedTask): Promise<Outcome> {
  const repository = await makeRepository(task, await mkdtemp(join(directory, `${task.name}-`)));
  const solved = await solve(client, task, repository, model);
  const { run, holds, branch, problem } = solved;
  const verdicts = await judge(client, directory, {
    task,
    solution: branch === undefined ? undefined : { repository, branch },
    withWrong: model === undefined,
  });
  const problems = [
    ...(problem === undefined ? [] : [problem, run.message ?? '']),
    ...verdicts.flatMap(({ of, passed, output }) => {
      if (of === 'after') return passed ? [] : [`the hidden validator fails:\n${output}`];
      return passed ? [`the hidden validator passes on "${of}"`] : [];
    }),
  ];
  return {
    ...{ task: task.name, turns: run.turn, holds, problems },
    solved: verdicts.some(({ of, passed }) => of === 'after' && passed),
    cost: run.usage.cost_usd,
    read: run.usage.input_tokens,
    ...(resultsOf && { results: await bothForms(client, solved, resultsOf(task)) }),
  };
}

/** Counts the results of a run as texts, and as the JSON that a model read in their place. */
async function bothForms(client: Client, { run, steps }: Solved, texts: readonly string[]) {
  const values = await Promise.all(steps.map(({ id }) => client.getStep(id)));
  const counted = values.map(({ tool, result, turn }, at) => ({
    tool,
    asText: tokensOf(texts[at] ?? ''),
    asJson: tokensOf(JSON.stringify(result)),
    // A result is part of every later request.
    requests: run.turn - (turn ?? run.turn),
  }));
  const sum = (of: (one: (typeof counted)[number]) => number) => counted.reduce((all, one) => all + of(one), 0);
  return {
    asText: sum(({ asText }) => asText),
    asJson: sum(({ asJson }) => asJson),
    readAsJson: run.usage.input_tokens + sum(({ asText, asJson, requests }) => (asJson - asText) * requests),
    byTool: sumByTool(counted.map((one) => ({ ...one, count: 1 }))),
  };
}

/** The tool with the most tokens comes first. */
export function sumByTool(counted: Results['byTool']): Results['byTool'] {
  return Object.entries(Object.groupBy(counted, ({ tool }) => tool))
    .map(([tool, of = []]) => ({
      tool,
      count: of.reduce((all, one) => all + one.count, 0),
      asText: of.reduce((all, one) => all + one.asText, 0),
      asJson: of.reduce((all, one) => all + one.asJson, 0),
    }))
    .toSorted((one, other) => other.asText - one.asText);
}
