import { LLMock } from '@copilotkit/aimock';
import { expect } from 'vitest';
import { ModelError } from '../errors.ts';
import { openModels } from '../open-models.ts';
import {
  type ModelAnswer,
  type ModelDelta,
  type ModelMessage,
  type ModelRequest,
  type ModelTool,
  modelAnswerSchema,
  modelMessageSchema,
} from '../port.ts';
import { type ModelSettings, modelSettingsFrom } from '../settings.ts';
import { eventsOf } from './events.ts';
import { openWireServer } from './wire-server.ts';

export const readFile: ModelTool = {
  name: 'read_file',
  description: 'Reads a file of the workspace.',
  parameters: {
    type: 'object',
    properties: { path: { type: 'string', minLength: 1 }, limit: { type: 'integer' } },
    required: ['path'],
    additionalProperties: false,
  },
};

const question: ModelMessage = { role: 'user', text: 'compare the two files' };

export interface Ask {
  (messages?: ModelMessage[], options?: Partial<ModelRequest>): Promise<ModelAnswer>;
  /** Asks for a stream. */
  stream(
    messages?: ModelMessage[],
    options?: Partial<ModelRequest>,
  ): Promise<{ answer: ModelAnswer; deltas: ModelDelta[] }>;
  /** The HTTP requests in order. */
  sent: { url: string; headers: Headers; body: Record<string, unknown> }[];
  /** The list under `field` in the body of a request, counted from 0. */
  list(request: number, field: string): Record<string, unknown>[];
}

/** Asks one model at `url` with real HTTP requests and records them. `now` is the epoch. */
export function asking(model: string, url: string, settings: Partial<ModelSettings> = {}): Ask {
  const sent: Ask['sent'] = [];
  const port = openModels({
    settings: {
      ...modelSettingsFrom(Object.fromEntries(variables.map((name) => [name, name.endsWith('URL') ? url : apiKey]))),
      ...settings,
    },
    fetch: (input, init) => {
      sent.push({ url: String(input), headers: new Headers(init?.headers), body: JSON.parse(String(init?.body)) });
      return fetch(input, init);
    },
    now: () => 0,
  });
  const ask = async (messages: ModelMessage[] = [question], options: Parameters<Ask>[1] = {}) =>
    port.generate({
      model,
      system: 'Work carefully.',
      messages,
      tools: [readFile],
      signal: AbortSignal.timeout(20_000),
      ...options,
    });
  const stream: Ask['stream'] = async (messages, options = {}) => {
    const deltas: ModelDelta[] = [];
    const answer = await ask(messages, { ...options, onDelta: (delta) => deltas.push(delta) });
    return { answer, deltas };
  };
  const list: Ask['list'] = (request, field) => {
    const value = sent[request]?.body[field];
    if (!Array.isArray(value)) throw new Error(`request ${request} has no list ${field}`);
    return value;
  };
  return Object.assign(ask, { sent, list, stream });
}

export const apiKey = 'test-key-1234567890';

const variables = [
  ...['OPENAI_API_KEY', 'OPENAI_BASE_URL', 'ANTHROPIC_API_KEY', 'ANTHROPIC_BASE_URL', 'GEMINI_API_KEY'],
  ...['GOOGLE_BASE_URL', 'OPENAI_COMPATIBLE_API_KEY', 'OPENAI_COMPATIBLE_BASE_URL', 'OLLAMA_BASE_URL'],
];

/** The error of a request that must fail. */
export async function failure(answer: Promise<unknown>): Promise<ModelError> {
  const error = await answer.then(
    () => new Error('the request succeeded'),
    (reason: unknown) => reason,
  );
  if (error instanceof ModelError) return error;
  throw error;
}

/**
 * Asks a model whose provider sends these answers in order, as JSON. A later question gets the last one again. Each question is asked a
 * second time for a stream, which must bring the same answer.
 */
export async function askServer(model: string, ...answers: unknown[]) {
  const server = await openWireServer(...answers.map((answer) => ({ body: JSON.stringify(answer) })));
  const streams = await openWireServer(
    ...answers.map((answer) => ({ headers: eventStream, body: eventsOf(model, answer).join('') })),
  );
  const [whole, streamed] = [asking(model, server.url), asking(model, streams.url)];
  const ask = async (...question: Parameters<Ask>) => {
    const answer = await whole(...question);
    expect((await streamed.stream(...question)).answer).toEqual(answer);
    return answer;
  };
  const dispose = async () => {
    await server[Symbol.asyncDispose]();
    await streams[Symbol.asyncDispose]();
  };
  return Object.assign(ask, whole, { [Symbol.asyncDispose]: dispose });
}

export const eventStream = { 'content-type': 'text/event-stream' };

/** An answer in the format of Chat Completions with these tool calls. */
export function chatCompletion(tool_calls: unknown[], finish_reason = 'tool_calls') {
  return {
    ...{ id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: 'm' },
    choices: [{ index: 0, message: { role: 'assistant', content: 'Looking.', tool_calls }, finish_reason }],
    usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 },
  };
}

/** A value after serialisation, as a worker on another machine reads it. */
export function persisted<T>(value: T): T {
  return JSON.parse(JSON.stringify(value));
}

/** The conversation after an answer, persisted and parsed by our schemas, with one successful and one failed result. */
export function continued(answer: ModelAnswer): ModelMessage[] {
  const recorded = modelAnswerSchema.parse(persisted(answer));
  const results = recorded.calls.map(({ id, tool }, index) => ({
    ...{ id, tool, text: index === 0 ? 'alpha' : 'Denied by a reviewer: not this file.' },
    is_error: index > 0,
  }));
  return modelMessageSchema
    .array()
    .parse(persisted([question, { role: 'assistant', answer: recorded }, { role: 'tool', results }]));
}

/** aimock with the two turns of every format test: two parallel calls, then an end. It answers `slow down` with a rate limit. */
export async function openProviderMock(): Promise<LLMock> {
  const mock = await LLMock.create({ port: 0, host: '127.0.0.1' });
  const toolCalls = ['a.txt', 'b.txt'].map((path, index) => ({
    name: 'read_file',
    arguments: JSON.stringify({ path }),
    id: `call_${'ab'[index]}`,
  }));
  mock.on({ userMessage: 'compare', hasToolResult: false }, { content: 'Reading both.', toolCalls });
  mock.on({ userMessage: 'compare', hasToolResult: true }, { content: 'They differ.' });
  mock.on(
    { userMessage: 'slow down' },
    { error: { message: 'too many requests', type: 'rate_limit_error' }, status: 429, retryAfter: 7 },
  );
  return mock;
}
