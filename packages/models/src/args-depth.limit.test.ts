import { expect, test } from 'vitest';
import { asking, chatCompletion, continued } from './testing/ask.ts';
import { openWireServer } from './testing/wire-server.ts';

const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;

const forms = {
  'openai-chat/gpt-4.1': (args: string) =>
    chatCompletion([{ id: 'c1', type: 'function', function: { name: 'read_file', arguments: args } }]),
  'anthropic/claude-sonnet-4-5': (args: string) => ({
    ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-sonnet-4-5', stop_reason: 'tool_use' },
    content: [{ type: 'tool_use', id: 'c1', name: 'read_file', input: JSON.parse(args) }],
    usage: { input_tokens: 1, output_tokens: 1 },
  }),
};

// JSON.stringify fails at a few thousand levels, so the text of the answer is built here.
function bodyOf(form: (args: string) => object, levels: number): string {
  const marker = '"deep"';
  const asText = JSON.stringify(form(JSON.stringify({ path: 'deep' })));
  return asText.includes('\\"deep\\"')
    ? asText.replace('\\"deep\\"', nested(levels))
    : asText.replace(marker, nested(levels));
}

test.each(
  Object.entries(forms).flatMap(([model, form]) => [91, 2000, 20_000].map((levels) => ({ model, form, levels }))),
)('$model: arguments of $levels levels are data that cannot be used', async ({ model, form, levels }) => {
  await using server = await openWireServer({ body: bodyOf(form, levels) });
  const ask = asking(model, server.url);
  const answer = await ask();
  expect(answer.calls).toMatchObject([
    { id: 'c1', tool: 'read_file', args: {}, invalid: expect.stringContaining('more than 90 levels') },
  ]);
  await ask(continued(answer));
  expect(JSON.stringify(ask.list(1, 'messages'))).not.toContain('[[[[');
});
