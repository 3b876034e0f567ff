import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type AppProcess,
  finished,
  type ModelServer,
  openModelServer,
  tokensPerAnswer,
  until,
  useSystem,
} from '../harness/index.ts';

const folder = mkdtempSync(join(tmpdir(), 'hp-model-use-'));
const asked = join(folder, 'asked');
/** Asks the model twice, and then waits until a file lets it end. */
const module = join(folder, 'asker.mjs');
writeFileSync(
  module,
  `import { existsSync, writeFileSync } from 'node:fs';
  import { setTimeout } from 'node:timers/promises';
  const execute = async ({ generate, signal }) => {
    for (const prompt of ['one', 'two']) await generate({ prompt, max_output_tokens: 9 });
    if (existsSync(${JSON.stringify(asked)})) return { status: 'succeeded', value: 'asked again' };
    writeFileSync(${JSON.stringify(asked)}, '');
    await setTimeout(600_000, undefined, { signal });
  };
  const tool = { description: 'Asks.', risk: 'low', input: { type: 'object' }, execute };
  export default { name: 'asker', tools: [
    { ...tool, name: 'ask_to_read', effect: 'read' },
    { ...tool, name: 'ask_to_write', effect: 'workspace' },
  ] };`,
);
let models: ModelServer;
let worker: AppProcess;
beforeAll(async () => {
  models = await openModelServer(() => ({ text: 'said' }));
});
const system = useSystem({
  workers: 0,
  env: () => ({
    HOLDPOINT_TOOLS: module,
    HOLDPOINT_MODEL: 'openai-compatible/fake',
    OPENAI_COMPATIBLE_BASE_URL: `${models.url}/v1`,
    HOLDPOINT_LOCK_MS: '2000',
  }),
});
afterAll(async () => {
  await models[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

test.each(['ask_to_read', 'ask_to_write'])('kill -9 after %s asked a model: each request counts once', async (tool) => {
  rmSync(asked, { force: true });
  const { client } = system;
  worker = await system.startWorker();
  const before = models.tokens();
  const { run } = await client.createRun({
    toolset: 'asker',
    plan: { groups: [{ steps: [{ tool, args: {} }] }] },
    policy: { rules: [{ match: {}, action: 'allow' }] },
  });
  const usedBy = async () => {
    const { usage } = await client.getRun(run.id);
    return usage.input_tokens + usage.output_tokens;
  };
  await until('the tool has both answers', () => existsSync(asked), { withinMs: 60_000 });
  expect(await usedBy()).toBe(2 * tokensPerAnswer);
  await worker.signal('SIGKILL');
  expect(await usedBy()).toBe(2 * tokensPerAnswer);
  worker = await system.startWorker();
  expect(await finished(client, run.id)).toMatchObject({ status: 'succeeded' });
  expect(models.tokens() - before).toBe(4 * tokensPerAnswer);
  expect(await usedBy()).toBe(4 * tokensPerAnswer);
  const { data } = await client.listEvents(run.id, { limit: 200 });
  const uses = data.flatMap((event) => (event.type === 'step.model_used' ? [event.data.attempt] : []));
  expect(uses).toEqual([1, 1, 2, 2]);
  await worker.signal('SIGTERM');
});
