import { allScopes, installationScopes } from '@holdpoint/contract';
import { expect, test } from 'vitest';
import { bash, plan, succeed, useSystem } from '../harness/index.ts';

/** As an operator's shell may have it when the worker starts. */
const planted = `hp_${'K'.repeat(43)}`;
const system = useSystem({ env: () => ({ HOLDPOINT_KEY: planted }) });
const { client } = system;

test('a command finds no key in its environment, files or processes, and reaches the API by no address', async () => {
  const port = new URL(system.api.url()).port;
  const hosts = ['127.0.0.1', 'localhost', '[::1]', '0.0.0.0', '127.9.9.9'];
  const lines = [
    'env | grep -c hp_',
    `cat /proc/*/environ 2>/dev/null | grep -ac hp_`,
    `cat ${system.dataDir}/api-key 2>/dev/null | wc -c`,
    ...hosts.map((host) => `curl -s --noproxy '*' -m 2 -o /dev/null -w '%{http_code} ' http://${host}:${port}/healthz`),
  ];
  const run = await succeed(client, { plan: plan([bash([...lines, 'true'].join('; '))]), policy: { rules: [] } });
  const [step] = (await client.listSteps(run.id)).data;
  const { result } = await client.getStep(step?.id ?? '');
  expect(result).toMatchObject({ stdout: `0\n0\n0\n${'000 '.repeat(hosts.length)}` });
  // A run cannot have it opened either: the address is not a public one.
  const network = { allow: [`127.0.0.1:${port}`] };
  await expect(client.createRun({ plan: plan([bash('true')]), network })).rejects.toMatchObject({
    code: 'invalid_network',
  });
  const text = JSON.stringify([await client.listEvents(run.id), await client.getRun(run.id)]);
  for (const key of [planted, system.key]) expect(text).not.toContain(key);
});

test('the name of the caller is in the run and in each of its events', async () => {
  const made = await client.createKey({
    ...{ name: 'ann', kind: 'person', tenant: 'acme' },
    scopes: allScopes.filter((scope) => !installationScopes.has(scope)),
  });
  const ann = system.as(made.key);
  const { run } = await ann.createRun({ plan: plan([bash('sleep 60')]) });
  await ann.waitForRun(run.id, { until: ({ status }) => status === 'running', signal: AbortSignal.timeout(60_000) });
  await ann.sendMessage(run.id, 'hello');
  await ann.cancelRun(run.id);
  await ann.waitForRun(run.id, { until: ({ status }) => status === 'canceled', signal: AbortSignal.timeout(60_000) });
  const { data } = await ann.listEvents(run.id);
  const names = data.flatMap(({ data: said }) => [Reflect.get(said, 'created_by'), Reflect.get(said, 'by')]);
  expect(names.filter(Boolean)).toEqual(['ann', 'ann', 'ann']);
  expect(run).toMatchObject({ created_by: 'ann', tenant: 'acme' });
  await expect(client.getRun(run.id)).rejects.toMatchObject({ code: 'run_not_found' });
  await ann.close();
});
