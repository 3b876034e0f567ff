import { createServer } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { AgentStub } from '../case.ts';
import { bodyOf, listen, type Stub } from './http.ts';

/** A server of the chat completions format, with the same answer to everything. */
export interface ModelStub extends Stub {
  url: string;
  reply(text: string): void;
  /** As a sub-agent with this end: its last message is `stdout`, and a failure is an error of the provider. */
  act(agent: AgentStub): void;
}

export async function openModelStub(): Promise<ModelStub> {
  let next: AgentStub = { status: 'success', stdout: '', stderr: '', exit_code: 0 };
  const server = createServer(async (request, response) => {
    const { model } = JSON.parse((await bodyOf(request)).toString() || '{}') as { model?: string };
    const { status, stdout, stderr, delay_ms } = next;
    if (delay_ms) await pause(delay_ms);
    const body =
      status === 'failed' ? { error: { message: stderr.replace(/^Error: /, '') } } : completion(model, stdout);
    // 400 is not tried again by any client.
    response.writeHead(status === 'failed' ? 400 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  });
  const stub = await listen(server);
  return {
    ...stub,
    url: `http://127.0.0.1:${stub.port}`,
    reply: (text) => {
      next = { status: 'success', stdout: text, stderr: '', exit_code: 0 };
    },
    act: (agent) => {
      next = agent;
    },
  };
}

const completion = (model: string | undefined, content: string) => ({
  id: 'answer',
  object: 'chat.completion',
  created: 1,
  model,
  choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
});
