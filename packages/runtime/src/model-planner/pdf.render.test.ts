import { createHash } from 'node:crypto';
import { makePdf } from '@holdpoint/documents/testing';
import { type ModelAnswer, ModelError, type ModelRequest } from '@holdpoint/models';
import { openModels } from '@holdpoint/models/open-models';
import { openWireServer } from '@holdpoint/models/testing';
import { expect, test } from 'vitest';
import { plannedRun } from '../testing/planned-run.ts';

const pdf = makePdf(['one']);
const sha256 = createHash('sha256').update(pdf).digest('hex');
const contents = { [sha256]: pdf };
const settled = (digest = sha256, bytes = pdf.length) => ({
  status: 'succeeded' as const,
  native: {
    path: 'a.pdf',
    document: {
      ...{ total_pages: 9, next_offset: 2, pages: [{ page: 1, text: 'PAGETEXT' }] },
      pdf: { media_type: 'application/pdf', pages: 1, bytes, sha256: digest },
    },
  },
});
const head = 'PDF, pages 1-1 of 9; continue with offset 2';

let answers = 0;
const reads = (): ModelAnswer => ({
  ...{ model: 'test/model', text: '', finish: 'tool_calls', provider: null },
  calls: [{ id: `call_${++answers}`, tool: 'read_file', args: { path: 'a.pdf' } }],
  usage: { input_tokens: 0, output_tokens: 0 },
});
const ends = (): ModelAnswer => ({ ...reads(), text: 'It says one.', calls: [], finish: 'stop' });

/** A run that reads one file after the other. */
function reading(ask: (request: ModelRequest, turn: number) => ModelAnswer | Promise<ModelAnswer>, given: object = {}) {
  let turn = 0;
  const model = {
    ...{ requests: [], summaries: [], refused: 0 },
    generate: async (request: ModelRequest) => ask(request, ++turn),
  };
  const facts = { source: 'operator' as const, images: true, pdf: true };
  return plannedRun({ model, facts, contents, settle: () => settled(), ...given } as never);
}

const resultsIn = ({ messages }: ModelRequest) =>
  messages.flatMap((message) => (message.role === 'tool' ? message.results : []));

const formats: [model: string, results: (body: never) => unknown][] = [
  ['anthropic/claude-sonnet-4-5', ({ messages }: { messages: unknown[] }) => messages.at(-1)],
  ['google/gemini-3-pro-preview', ({ contents }: { contents: unknown[] }) => contents.at(-1)],
  ['google/gemini-2.5-pro', ({ contents }: { contents: unknown[] }) => contents.at(-1)],
  ['openai/gpt-5', ({ input }: { input: unknown[] }) => input.at(-1)],
  ['openai-chat/gpt-4.1', ({ messages }: { messages: unknown[] }) => messages.slice(-2)],
  ['openai-compatible/m', ({ messages }: { messages: unknown[] }) => messages.slice(-2)],
];

test.each(formats)('pages of a PDF in a request to %s', async (model, resultsOf) => {
  await using server = await openWireServer({ status: 401, body: '{}' });
  const key = { apiKey: 'no-key-at-all', baseUrl: server.url };
  const known = { 'openai-compatible/*': { pdf: true } };
  const port = openModels({ settings: { known, anthropic: key, openai: key, google: key, openaiCompatible: key } });
  answers = 0;
  const run = reading((request, turn) =>
    turn === 1 ? reads() : port.generate({ ...request, model, onDelta: undefined }),
  );
  await expect(run.run(2)).rejects.toThrow('401');
  await expect(run.run(1)).rejects.toThrow('401');
  const [first, second] = server.requests;
  expect(second).toEqual(first);
  const sent = JSON.stringify(first);
  expect(sent).toContain(pdf.toString('base64'));
  // The provider reads the text of the pages itself.
  expect(sent).not.toContain('PAGETEXT');
  const text = JSON.stringify(resultsOf(first as never), undefined, 2).replaceAll(pdf.toString('base64'), 'BASE64');
  await expect(`${text}\n`).toMatchFileSnapshot(`golden/pdf-${model.replaceAll('/', '-')}.json`);
});

test.each(['openai/o3-mini', 'openai-compatible/m', 'ollama/m'])('%s reads the text of a PDF', async (model) => {
  await using server = await openWireServer({ status: 401, body: '{}' });
  const key = { apiKey: 'no-key-at-all', baseUrl: server.url };
  const port = openModels({ settings: { openai: key, openaiCompatible: key, ollama: key } });
  const run = reading(
    (request, turn) => (turn === 1 ? reads() : port.generate({ ...request, model, onDelta: undefined })),
    { facts: { source: 'unknown' } },
  );
  await expect(run.run(2)).rejects.toThrow('401');
  const sent = JSON.stringify(server.requests[0]);
  expect(sent).toContain(`${head}\\npage 1\\n\\tPAGETEXT`);
  expect(sent).not.toContain(pdf.toString('base64').slice(0, 40));
});

test('lost bytes become the text, and the run continues', async () => {
  const requests: ModelRequest[] = [];
  const run = reading((request, turn) => (requests.push(request) && turn === 1 ? reads() : ends()), {
    settle: () => settled('f'.repeat(64)),
  });
  expect(await run.run(3)).toBe('It says one.');
  expect(resultsIn(requests[1] as ModelRequest)).toMatchObject([{ text: `${head}\npage 1\n\tPAGETEXT` }]);
});

test('a PDF that the provider refuses becomes the text, and the conversation is not refused for ever', async () => {
  const broken = Buffer.concat([pdf, Buffer.from('x')]);
  const digest = createHash('sha256').update(broken).digest('hex');
  const requests: ModelRequest[] = [];
  const run = reading(
    (request) => {
      requests.push(request);
      if (!JSON.stringify(request.messages).includes(broken.toString('base64')))
        return requests.length < 6 ? reads() : ends();
      const message = 'test/model answered 400: The PDF specified was not valid.';
      throw new ModelError({ code: 'EMODELREQUEST', message, next: 'Look.', status: 400 });
    },
    { contents: { [digest]: broken }, settle: () => settled(digest, broken.length) },
  );
  expect(await run.run(9)).toBe('It says one.');
  expect(requests.filter((request) => resultsIn(request).some(({ images }) => images !== undefined))).toHaveLength(1);
  expect(resultsIn(requests.at(-1) as ModelRequest)[0]?.text).toContain('PAGETEXT');
});

test('pages count for the window, and old ones become text before it is full', async () => {
  const requests: ModelRequest[] = [];
  const run = reading((request) => (requests.push(request) < 14 ? reads() : ends()), {
    facts: { source: 'operator', images: true, pdf: true, window: 24_000, maxOutput: 1000 },
  });
  expect(await run.run(14)).toBe('It says one.');
  const counts = requests.map((request) => resultsIn(request).filter(({ images }) => images !== undefined).length);
  expect(Math.max(...counts)).toBeGreaterThan(3);
  expect(Math.max(...counts)).toBeLessThan(12);
  expect(run.log.compactions.length).toBeGreaterThan(0);
});
