import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApi, type TestApi } from '../../testing/test-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi({ metrics: { scraped: { host: '127.0.0.1', port: 0, isOpen: false } } });
});
afterAll(() => api.stop());

test('shows', async () => {
  await api.client.createRun({ plan: { groups: [{ steps: [{ tool: 'bash', args: { command: 'true' } }] }] } });
  console.log(await (await api.send('/metrics')).text());
  const om = await api.send('/metrics', { headers: { accept: 'application/openmetrics-text;version=1.0.0' } });
  console.log(om.headers.get('content-type'), await om.text());
});
