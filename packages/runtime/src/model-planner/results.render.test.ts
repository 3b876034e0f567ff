import type { Json } from '@holdpoint/contract';
import type { ModelAnswer } from '@holdpoint/models';
import { openModels } from '@holdpoint/models/open-models';
import { openWireServer } from '@holdpoint/models/testing';
import { expect, test } from 'vitest';
import { plannedRun } from '../testing/planned-run.ts';

type Settled = ReturnType<Parameters<typeof plannedRun>[0]['settle']>;

const exit = { exit_code: 1, signal: null, stdout: 'got "3",\n\twant "4"\n', stderr: 'exit 0\n' };
const file = { content: 'const a = "x";\n\n', start_line: 1, line_count: 2, total_lines: 2, line_endings: 'lf' };
const failed = { code: 'EEXIT', message: 'exit code 1', next: 'Read stderr and stdout for the reason.' };
const missing = { code: 'ENOENT', message: 'b.ts: no such file.', next: 'Check the path.' };
const edited = {
  decision: 'edit' as const,
  args: { command: 'ls -a' },
  message: 'Hidden, too.',
  isIndeterminate: false,
};

/** A call and its outcome, as the log has them. */
const calls: [tool: string, args: Json, outcome: Settled][] = [
  [
    'bash',
    { command: 'npm test' },
    { status: 'failed', error: failed, native: { status: 'failed', error: failed, value: exit } },
  ],
  ['bash', { command: 'ls' }, { status: 'succeeded', native: { ...exit, exit_code: 0 }, decided: [edited] }],
  ['read_file', { path: 'a.ts' }, { status: 'succeeded', native: { ...file, final_newline: true } }],
  ['read_file', { path: 'b.ts' }, { status: 'failed', error: missing, native: { status: 'failed', error: missing } }],
];

const answer = (): ModelAnswer => ({
  model: 'test/model',
  text: 'Looking.',
  calls: calls.map(([tool, args], at) => ({ id: `call_${at}`, tool, args })),
  finish: 'tool_calls',
  usage: { input_tokens: 1, output_tokens: 1 },
  provider: null,
});

/** The part of each format's request which has the results. */
const formats: [model: string, results: (body: never) => unknown][] = [
  ['anthropic/claude-sonnet-4-5', ({ messages }: { messages: unknown[] }) => messages.at(-1)],
  ['google/gemini-3-pro-preview', ({ contents }: { contents: unknown[] }) => contents.at(-1)],
  ['openai/gpt-5', ({ input }: { input: unknown[] }) => input.slice(-calls.length)],
  ['openai-chat/gpt-4.1', ({ messages }: { messages: unknown[] }) => messages.slice(-calls.length)],
  ['openai-compatible/m', ({ messages }: { messages: unknown[] }) => messages.slice(-calls.length)],
];

test.each(formats)('the results of calls in a request to %s', async (model, resultsOf) => {
  await using server = await openWireServer({ status: 400, body: '{}' });
  const key = { apiKey: 'no-key-at-all', baseUrl: server.url };
  const port = openModels({ settings: { anthropic: key, openai: key, google: key, openaiCompatible: key } });
  let turn = 0;
  const run = plannedRun({
    model: {
      ...{ requests: [], summaries: [], refused: 0 },
      generate: async (request) => (turn++ === 0 ? answer() : port.generate({ ...request, model, onDelta: undefined })),
    },
    settle: ({ call_id }) => calls[Number(call_id?.slice(-1))]?.[2] ?? { status: 'failed' },
  });
  await expect(run.run(2)).rejects.toThrow('400');
  const results = resultsOf(server.requests[0] as never);
  const provider = model.slice(0, model.indexOf('/'));
  await expect(`${JSON.stringify(results, undefined, 2)}\n`).toMatchFileSnapshot(`golden/results-${provider}.json`);
});
