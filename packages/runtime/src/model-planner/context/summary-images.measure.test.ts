import { createHash } from 'node:crypto';
import { type ModelAnswer, ModelError, type ModelRequest } from '@holdpoint/models';
import { openModels } from '@holdpoint/models/open-models';
import { openWireServer } from '@holdpoint/models/testing';
import { expect, test } from 'vitest';
import { plannedRun } from '../../testing/planned-run.ts';
import { summarise } from './summarise.ts';

const base64 = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const png = Buffer.from(base64, 'base64');

const kept = (content: Buffer) => ({
  ...{ media_type: 'image/png' as const, width: 800, height: 600, bytes: content.length },
  sha256: createHash('sha256').update(content).digest('hex'),
});

const usage = { input_tokens: 0, output_tokens: 0 };
const answered = { model: 'test/model', usage, provider: null };

const isSummary = ({ messages }: ModelRequest): boolean => {
  const last = messages.at(-1);
  return last?.role === 'user' && last.text.includes('Write the notes now.');
};

/** A run that reads files, each third an image, until its conversation was summarised. @returns its requests */
async function summarised() {
  const image = kept(png);
  const requests: ModelRequest[] = [];
  const generate = async (request: ModelRequest): Promise<ModelAnswer> => {
    requests.push(request);
    const notes = isSummary(request);
    const call = { id: `call_${requests.length}`, tool: 'read_file', args: { path: `${requests.length}.png` } };
    return {
      ...{ ...answered, text: notes ? 'notes' : '', calls: notes ? [] : [call] },
      finish: notes ? 'stop' : 'tool_calls',
    };
  };
  const run = plannedRun({
    model: { ...{ requests: [], summaries: [], refused: 0 }, generate },
    facts: { source: 'operator', images: true, window: 130_000, maxOutput: 8000 },
    contents: { [image.sha256]: png },
    settle: (_, turn) => {
      const text = { content: `${turn} ${'text of a file '.repeat(200)}` };
      return { status: 'succeeded', native: turn % 3 === 0 ? { path: 'a.png', image } : text };
    },
  });
  while (run.log.compactions.length === 0 && run.log.turns.length < 90) await run.run(1);
  const at = requests.findIndex(isSummary);
  return { run, summary: requests[at] as ModelRequest, turn: requests[at - 1] as ModelRequest };
}

const models = [
  ...['anthropic/claude-sonnet-4-5', 'google/gemini-3-pro-preview', 'openai/gpt-5', 'openai-chat/gpt-4.1'],
  ...['openai-compatible/m', 'ollama/m'],
];

/** The parts of all messages of a request on the wire, without the marks of the cache. */
function partsOf(body: Record<string, unknown>): string[] {
  const messages = (body.messages ?? body.input ?? body.contents) as Record<string, unknown>[];
  const parts = messages.flatMap(({ content, parts: given = content, ...rest }): unknown[] =>
    Array.isArray(given) ? given.map((part: unknown) => ({ ...rest, part })) : [{ ...rest, given }],
  );
  return parts.map((part) => JSON.stringify(part).replaceAll(/,?"cache_control":\{[^}]*\}/g, ''));
}

test.each(models)('%s finds the beginning of a summary in its cache, also behind images', async (model) => {
  const { run, summary, turn } = await summarised();
  expect(run.log.turns.length).toBeGreaterThanOrEqual(60);
  expect(run.log.compactions).toMatchObject([{ how: 'summarised', summary: 'notes' }]);
  await using server = await openWireServer({ status: 401, body: '{}' });
  const key = { apiKey: 'no-key-at-all', baseUrl: server.url };
  const known = { 'openai-compatible/*': { images: true }, 'ollama/*': { images: true } };
  const keys = { anthropic: key, openai: key, google: key, openaiCompatible: key, ollama: key };
  const port = openModels({ settings: { known, ...keys } });
  for (const request of [turn, summary]) {
    await expect(port.generate({ ...request, model, onDelta: undefined })).rejects.toThrow('401');
  }
  const [before, after] = server.requests as [Record<string, unknown>, Record<string, unknown>];
  const question = partsOf(after).at(-1);
  const beginning = partsOf(after).slice(0, -1);
  expect(question).toContain('Write the notes now.');
  expect(beginning.filter((part) => part.includes(base64)).length).toBeGreaterThan(10);
  expect(beginning).toEqual(partsOf(before).slice(0, beginning.length));
  for (const field of ['tools', 'system', 'systemInstruction', 'instructions']) {
    expect(after[field]).toEqual(before[field]);
  }
});

test('a new worker whose first request is a summary with an image that the provider refuses still gets notes', async () => {
  const broken = Buffer.concat([png, Buffer.from([7])]);
  const image = kept(broken);
  const results = [
    { id: 'call_1', tool: 'read_file', text: 'image', is_error: false, images: [{ data: '', ...image, kept: image }] },
  ];
  const sent: string[] = [];
  const generate = async ({ messages }: ModelRequest): Promise<ModelAnswer> => {
    sent.push(JSON.stringify(messages));
    if (sent.length === 1)
      throw new ModelError({ code: 'EMODELREQUEST', message: 'Could not process image', next: '' });
    return { ...answered, text: 'notes', calls: [], finish: 'stop' };
  };
  const { text, failed } = await summarise(
    { generate },
    {
      ...{ model: 'test/model', prompt: 'Look.', before: '', turns: [], request: 1000, longest: 100 },
      like: { system: 'Work.', tools: [], temperature: undefined, reasoningEffort: undefined, cacheKey: 'run_1' },
      conversations: [
        [
          { role: 'user', text: 'Look.' },
          { role: 'tool', results },
        ],
      ],
      redacted: { text: (one) => one, json: (one) => one },
      images: { sight: { images: true, pdf: true }, read: async () => broken },
      ...{ hasOther: false, usageOf: ({ usage }) => usage },
      signal: new AbortController().signal,
    },
  );
  expect({ text, failed }).toEqual({ text: 'notes', failed: undefined });
  expect(sent[0]).toContain(broken.toString('base64'));
  expect(sent[1]).not.toContain(broken.toString('base64'));
  expect(sent[1]).toContain('could not read it');
});
