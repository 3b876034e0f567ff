import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { eventsOf } from '@holdpoint/models/testing';
import { z } from 'zod';
import type { NamedTask } from './all.ts';
import { nextTurn } from './expert.ts';

export interface AnthropicExpert extends AsyncDisposable {
  url: string;
  /** The keys and paths of all requests so far. */
  requests: { key: unknown; path: unknown }[];
}

const texts = z.union([
  z.string().transform((text) => [text]),
  z.array(z.looseObject({ text: z.string().optional() })).transform((parts) => parts.map(({ text = '' }) => text)),
]);
const part = z.looseObject({ type: z.string(), text: z.string().optional(), content: texts.optional() });
const requestSchema = z.looseObject({
  model: z.string(),
  stream: z.literal(true),
  messages: z.array(z.object({ role: z.enum(['user', 'assistant']), content: z.array(part) })),
});

/**
 * A provider in the format of Anthropic's Messages, with the streams of the real one: it answers with the expert of the task in the prompt,
 * and counts 1,000 tokens read and 100 written for each answer. Another key is refused in the provider's words.
 */
export async function openAnthropicExpert(tasks: readonly NamedTask[], key: string): Promise<AnthropicExpert> {
  const requests: AnthropicExpert['requests'] = [];
  const server = createServer(async (request, response) => {
    const body = await bodyOf(request);
    requests.push({ key: request.headers['x-api-key'], path: request.url });
    if (request.headers['x-api-key'] !== key) {
      response.writeHead(401, { 'content-type': 'application/json' });
      return response.end(
        JSON.stringify({ type: 'error', error: { type: 'authentication_error', message: 'invalid x-api-key' } }),
      );
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(eventsOf('anthropic/expert', answerTo(tasks, body, requests.length)).join(''));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function answerTo(tasks: readonly NamedTask[], body: unknown, number: number) {
  const { model, messages } = requestSchema.parse(body);
  const said = messages.flatMap(({ content }) => content.flatMap(({ text = '' }) => text)).join('\n');
  const task = tasks.find(({ prompt }) => said.includes(prompt));
  if (task === undefined) throw new Error('no task has this prompt');
  const results = messages.flatMap(({ content }) =>
    content.flatMap((one) => (one.type === 'tool_result' ? [(one.content ?? []).join('\n')] : [])),
  );
  const turn = nextTurn(task.expert, results);
  const content =
    'text' in turn
      ? [{ type: 'text', text: turn.text }]
      : turn.calls.map(({ tool, args }, at) => ({
          ...{ type: 'tool_use', id: `toolu_${number}_${at}`, name: tool, input: args },
        }));
  return {
    ...{ id: `msg_${number}`, type: 'message', role: 'assistant', model, content, stop_sequence: null },
    stop_reason: 'text' in turn ? 'end_turn' : 'tool_use',
    usage: { input_tokens: 1000, output_tokens: 100 },
  };
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString());
}
