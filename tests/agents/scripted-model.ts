import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request of an agent to its model, whatever its format. */
export interface Asked {
  path: string;
  model: string;
  /** The names of the offered tools. */
  tools: string[];
  /** The whole request as text. */
  text: string;
  /** The headers of the request. */
  headers: IncomingMessage['headers'];
  /** Number of this request, from 1. */
  number: number;
}

export interface Says {
  text?: string;
  calls?: { tool: string; args: object }[];
  /** The model refuses the request with this status. */
  refusal?: number;
}

export interface ScriptedModel extends AsyncDisposable {
  url: string;
  asked: Asked[];
}

/**
 * A model on loopback in the formats of Anthropic's messages, OpenAI's responses and chat completions, and Google's content. Each answer has 10 tokens of
 * input and 5 of output.
 */
export async function openScriptedModel(answer: (asked: Asked) => Says): Promise<ScriptedModel> {
  const asked: Asked[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    const path = (request.url ?? '').replace(/\?.*/, '');
    const format = formats.find(({ ends }) => path.endsWith(ends));
    if (request.method !== 'POST' || format === undefined) {
      response.writeHead(404, { 'content-type': 'application/json' }).end('{"error":{"message":"no such path"}}');
      return;
    }
    const body = JSON.parse(text) as Body;
    const model = body.model ?? /models\/([^:]+):/.exec(path)?.[1] ?? '';
    const one = { path, model, tools: toolsOf(body), text, headers: request.headers, number: asked.length + 1 };
    asked.push(one);
    const says = answer(one);
    if (says.refusal !== undefined) {
      response.writeHead(says.refusal, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ type: 'error', error: { type: 'invalid_request_error', message: 'refused' } }));
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    format.write(response, { id: `answer_${one.number}`, model, text: says.text ?? '', calls: says.calls ?? [] });
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

interface Body {
  model?: string;
  tools?: {
    name?: string;
    function?: { name: string };
    functionDeclarations?: { name: string }[];
    tools?: { name: string }[];
  }[];
}

const toolsOf = ({ tools = [] }: Body): string[] =>
  tools.flatMap(({ name, function: made, functionDeclarations, tools: inside }) => {
    const names = [...(functionDeclarations ?? []), ...(inside ?? [])].map((one) => one.name);
    return names.length > 0
      ? names.map((one) => (inside === undefined ? one : `${name}.${one}`))
      : [name ?? made?.name ?? ''];
  });

interface Answer {
  id: string;
  model: string;
  text: string;
  calls: { tool: string; args: object }[];
}

type Write = (response: ServerResponse, answer: Answer) => void;

const sse = (response: ServerResponse, data: object, event?: string) =>
  response.write(`${event === undefined ? '' : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`);

const anthropic: Write = (response, { id, model, text, calls }) => {
  const send = (data: { type: string } & Record<string, unknown>) => sse(response, data, data.type);
  const usage = { input_tokens: 10, output_tokens: 1 };
  const message = { id, type: 'message', role: 'assistant', model, content: [], stop_reason: null, usage };
  send({ type: 'message_start', message });
  const blocks = [
    ...(text === '' ? [] : [{ start: { type: 'text', text: '' }, delta: { type: 'text_delta', text } }]),
    ...calls.map(({ tool, args }, at) => ({
      start: { type: 'tool_use', id: `toolu_${id}_${at}`, name: tool, input: {} },
      delta: { type: 'input_json_delta', partial_json: JSON.stringify(args) },
    })),
  ];
  for (const [index, { start, delta }] of blocks.entries()) {
    send({ type: 'content_block_start', index, content_block: start });
    send({ type: 'content_block_delta', index, delta });
    send({ type: 'content_block_stop', index });
  }
  const stop_reason = calls.length > 0 ? 'tool_use' : 'end_turn';
  send({ type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 5 } });
  send({ type: 'message_stop' });
};

const responses: Write = (response, { id, model, text, calls }) => {
  const send = (data: { type: string } & Record<string, unknown>) => sse(response, data, data.type);
  const said =
    text === ''
      ? []
      : [
          {
            type: 'message',
            id: `msg_${id}`,
            role: 'assistant',
            status: 'completed',
            content: [{ type: 'output_text', text, annotations: [] }],
          },
        ];
  const output = [
    ...said,
    ...calls.map(({ tool, args }, at) => {
      const [namespace, name] = tool.includes('.') ? tool.split('.') : [undefined, tool];
      return {
        type: 'function_call',
        id: `fc_${id}_${at}`,
        call_id: `call_${id}_${at}`,
        name,
        namespace,
        arguments: JSON.stringify(args),
        status: 'completed',
      };
    }),
  ];
  send({ type: 'response.created', response: { id, model, status: 'in_progress', output: [] } });
  for (const [output_index, item] of output.entries()) {
    send({ type: 'response.output_item.added', output_index, item });
    send({ type: 'response.output_item.done', output_index, item });
  }
  const usage = {
    input_tokens: 10,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 5,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 15,
  };
  send({ type: 'response.completed', response: { id, model, status: 'completed', output, usage } });
};

const chat: Write = (response, { id, model, text, calls }) => {
  const common = { id, object: 'chat.completion.chunk', created: 1, model };
  const tool_calls = calls.map(({ tool, args }, index) => ({
    index,
    id: `call_${id}_${index}`,
    type: 'function',
    function: { name: tool, arguments: JSON.stringify(args) },
  }));
  const delta = { role: 'assistant', content: text, ...(calls.length > 0 && { tool_calls }) };
  sse(response, { ...common, choices: [{ index: 0, delta, finish_reason: null }] });
  const finish_reason = calls.length > 0 ? 'tool_calls' : 'stop';
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
  sse(response, { ...common, choices: [{ index: 0, delta: {}, finish_reason }], usage });
  response.write('data: [DONE]\n\n');
};

const google: Write = (response, { model, text, calls }) => {
  const parts = [
    ...(text === '' ? [] : [{ text }]),
    ...calls.map(({ tool, args }) => ({ functionCall: { name: tool, args } })),
  ];
  const usageMetadata = { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 };
  sse(response, {
    candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0 }],
    usageMetadata,
    modelVersion: model,
  });
};

const formats: { ends: string; write: Write }[] = [
  { ends: '/messages', write: anthropic },
  { ends: '/responses', write: responses },
  { ends: '/chat/completions', write: chat },
  { ends: ':streamGenerateContent', write: google },
];
