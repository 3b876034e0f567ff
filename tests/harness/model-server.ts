import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The parts of a model request for tests. */
interface Question {
  model: string;
  /** The model's text before the prompt. */
  system: string;
  /** Names of its tools. */
  tools: string[];
  /** The last words, results of tools excepted. */
  said: string;
  /** The tokens permitted to the answer. */
  maxTokens: number | undefined;
  /** The prompt of the run. */
  prompt: string;
  /** The results of tools, in order. */
  results: { id: string; text: string }[];
  /** Ids of the model's earlier calls. */
  calls: string[];
  /** The whole request. */
  body: string;
}

interface Answer {
  text?: string;
  calls?: { tool: string; args: object }[];
  /** The answer reached its output limit. */
  cut?: true;
  /** The provider refuses the request with this status, for example 401. */
  refusal?: number;
  /** The words of the answer. */
  words?: string;
  /** The text comes in parts. */
  streamed?: true;
  /** Tokens of the request, as the provider counts. */
  read?: number;
}

export interface ModelServer extends AsyncDisposable {
  url: string;
  questions: Omit<Question, 'body'>[];
  /** Tokens of all answers so far. */
  tokens(): number;
}

export const tokensPerAnswer = 15;

/** A loopback server of the chat completions format, in the way of openai-compatible servers. Every answer costs `tokensPerAnswer`. */
export async function openModelServer(answer: (question: Question) => Answer): Promise<ModelServer> {
  const questions: ModelServer['questions'] = [];
  let answered = 0;
  const server = createServer(async (request, response) => {
    const question = await read(request);
    const { body: _, ...kept } = question;
    questions.push(kept);
    const { text = '', calls = [], cut, refusal, words = 'refused', read: counted = 10, streamed } = answer(question);
    if (refusal !== undefined) {
      response.writeHead(refusal, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { message: words } }));
      return;
    }
    answered += 1;
    if (streamed) {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const chunk of chunksOf(question.model, answered, text))
        response.write(`data: ${JSON.stringify(chunk)}\n\n`);
      response.end('data: [DONE]\n\n');
      return;
    }
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(completion(question.model, answered, { text, calls, cut, read: counted })));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    questions,
    tokens: () => answered * tokensPerAnswer,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The text in two parts, and the usage at the end. */
function chunksOf(model: string, id: number, text: string): object[] {
  const common = { id: `answer-${id}`, object: 'chat.completion.chunk', created: 1, model };
  const half = Math.ceil(text.length / 2);
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: tokensPerAnswer };
  return [
    ...[text.slice(0, half), text.slice(half)].map((content) => ({
      ...common,
      choices: [{ index: 0, delta: { role: 'assistant', content }, finish_reason: null }],
    })),
    { ...common, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage },
  ];
}

interface Message {
  role: string;
  content?: string | { text?: string }[] | null;
  tool_call_id?: string;
  tool_calls?: { id: string }[];
}

interface Request {
  model: string;
  messages: Message[];
  max_tokens?: number;
  tools?: { function: { name: string } }[];
}

async function read(request: IncomingMessage): Promise<Question> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = Buffer.concat(chunks).toString();
  const { model, messages, max_tokens, tools = [] } = JSON.parse(body) as Request;
  return {
    ...{ model, body },
    system: textOf(messages.find(({ role }) => role === 'system')),
    tools: tools.map(({ function: { name } }) => name),
    said: textOf(messages.findLast(({ role }) => role === 'user')),
    maxTokens: max_tokens,
    prompt: textOf(messages.find(({ role }) => role === 'user')),
    results: messages.flatMap((one) =>
      one.role === 'tool' ? [{ id: one.tool_call_id ?? '', text: textOf(one) }] : [],
    ),
    calls: messages.flatMap((one) => (one.tool_calls ?? []).map(({ id }) => id)),
  };
}

const textOf = (message: Message | undefined): string =>
  Array.isArray(message?.content) ? message.content.map(({ text = '' }) => text).join('') : (message?.content ?? '');

const completion = (
  model: string,
  number: number,
  {
    text: content,
    calls,
    cut,
    read: prompt_tokens,
  }: Required<Pick<Answer, 'text' | 'calls' | 'read'>> & Pick<Answer, 'cut'>,
) => ({
  id: `answer-${number}`,
  object: 'chat.completion',
  created: 1,
  model,
  choices: [
    {
      index: 0,
      message: {
        role: 'assistant',
        content,
        tool_calls:
          calls.length === 0
            ? undefined
            : calls.map(({ tool, args }, index) => ({
                id: `call_${number}_${index}`,
                type: 'function',
                function: { name: tool, arguments: JSON.stringify(args) },
              })),
      },
      finish_reason: cut ? 'length' : calls.length > 0 ? 'tool_calls' : 'stop',
    },
  ],
  usage: { prompt_tokens, completion_tokens: 5, total_tokens: prompt_tokens + 5 },
});
