import { tokensOf } from '../../bench/token-count.ts';
import { type ModelServer, openModelServer } from '../harness/model-server.ts';
import type { NamedTask } from './all.ts';
import { nextTurn } from './expert.ts';

export interface ExpertServer extends AsyncDisposable {
  url: string;
  /** The texts of the results in the last request about a task, in the order of their calls. */
  resultsOf(task: NamedTask): readonly string[];
}

/** A model behind the model port of a system: answers each request with the next turn of the task's expert, and counts what it read. */
export async function openExpertServer(tasks: readonly NamedTask[]): Promise<ExpertServer> {
  const results = new Map<string, readonly string[]>();
  const server: ModelServer = await openModelServer((question) => {
    const task = tasks.find(({ prompt }) => question.prompt.includes(prompt));
    if (task === undefined) return { refusal: 400, words: 'no task has this prompt' };
    const texts = question.results.map(({ text }) => text);
    results.set(task.name, texts);
    return { ...nextTurn(task.expert, texts), read: tokensRead(question.body) };
  });
  return {
    url: server.url,
    resultsOf: ({ name }) => results.get(name) ?? [],
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** The tokens of every text in a request: a model reads texts without the escapes of the request's JSON. */
function tokensRead(body: string): number {
  const { messages, tools = [] } = JSON.parse(body) as { messages: unknown; tools?: unknown };
  return tokensIn(messages) + tokensOf(JSON.stringify(tools));
}

function tokensIn(value: unknown): number {
  if (typeof value === 'string') return tokensOf(value);
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce<number>((sum, part) => sum + tokensIn(part), 0);
}
