import { allScopes } from '@holdpoint/contract';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { startTestApi, type TestApi } from '../testing/test-api.ts';
import { testWorker } from '../testing/test-worker.ts';

let api: TestApi;
let document: z.infer<typeof documentSchema>;
beforeAll(async () => {
  api = await startTestApi();
  document = documentSchema.parse(await (await fetch(`${api.address}/openapi.json`)).json());
});
afterAll(() => api.stop());

const media = z.record(z.string(), z.looseObject({ schema: z.looseObject({}) }));
const operationSchema = z.strictObject({
  operationId: z.string(),
  summary: z.string(),
  description: z.string().optional(),
  tags: z.array(z.string()),
  security: z.array(
    z.union([z.strictObject({ key: z.array(z.string()) }), z.strictObject({ session: z.array(z.string()) })]),
  ),
  parameters: z
    .array(
      z.strictObject({
        in: z.enum(['path', 'query', 'header']),
        name: z.string(),
        required: z.boolean(),
        schema: z.looseObject({}),
        description: z.string().optional(),
        style: z.literal('form').optional(),
        explode: z.literal(false).optional(),
      }),
    )
    .optional(),
  requestBody: z.strictObject({ required: z.boolean().optional(), content: media }).optional(),
  responses: z.record(z.string(), z.strictObject({ description: z.string(), content: media.default({}) })),
});
/** What of OpenAPI 3.1 this API uses: anything else in the document is a mistake. */
const documentSchema = z.strictObject({
  openapi: z.literal('3.1.0'),
  info: z.strictObject({
    ...{ title: z.string(), version: z.string(), description: z.string() },
    license: z.strictObject({ name: z.string(), identifier: z.string() }),
  }),
  servers: z.tuple([z.strictObject({ url: z.literal('/'), description: z.string() })]),
  security: z.array(
    z.union([z.strictObject({ key: z.array(z.string()) }), z.strictObject({ session: z.array(z.string()) })]),
  ),
  components: z.strictObject({
    securitySchemes: z.strictObject({
      key: z.strictObject({ type: z.literal('http'), scheme: z.literal('bearer') }),
      session: z.strictObject({
        type: z.literal('apiKey'),
        in: z.literal('cookie'),
        name: z.literal('holdpoint_session'),
      }),
    }),
    schemas: z.record(z.string(), z.looseObject({})),
  }),
  paths: z.record(
    z.string().startsWith('/'),
    z.partialRecord(z.enum(['get', 'post', 'put', 'delete']), operationSchema),
  ),
});

const routes = [
  'delete /v1/approvals/{id}/presence',
  'delete /v1/keys/{id}',
  'delete /v1/mcp/servers/{name}',
  'delete /v1/passkeys/{id}',
  'delete /v1/policies/{name}',
  'delete /v1/push-subscriptions/{id}',
  'delete /v1/rules/{id}',
  'delete /v1/schedules/{name}',
  'delete /v1/secrets/{name}',
  'delete /v1/session',
  'delete /v1/sessions',
  'delete /v1/sessions/{id}',
  'delete /v1/webhooks/{name}',
  'get /healthz',
  'get /metrics',
  'get /readyz',
  'get /v1/approvals',
  'get /v1/approvals/counts',
  'get /v1/approvals/{id}',
  'get /v1/approvals/{id}/conflict',
  'get /v1/approvals/{id}/content',
  'get /v1/approvals/{id}/context',
  'get /v1/approvals/{id}/pattern',
  'get /v1/audit',
  'get /v1/audit/head',
  'get /v1/audit/verify',
  'get /v1/bounds',
  'get /v1/evals',
  'get /v1/evals/{id}',
  'get /v1/events',
  'get /v1/keys',
  'get /v1/keys/{id}',
  'get /v1/mcp/servers',
  'get /v1/mcp/servers/{name}',
  'get /v1/me',
  'get /v1/passkeys',
  'get /v1/policies',
  'get /v1/policies/{name}',
  'get /v1/policies/{name}/versions',
  'get /v1/policies/{name}/versions/{version}',
  'get /v1/presence',
  'get /v1/push-key',
  'get /v1/push-subscriptions',
  'get /v1/queues',
  'get /v1/quotas',
  'get /v1/quotas/{tenant}',
  'get /v1/rules',
  'get /v1/rules/{id}',
  'get /v1/runs',
  'get /v1/runs/counts',
  'get /v1/runs/{id}',
  'get /v1/runs/{id}/archive',
  'get /v1/runs/{id}/calls/{number}',
  'get /v1/runs/{id}/diff',
  'get /v1/runs/{id}/events',
  'get /v1/runs/{id}/files',
  'get /v1/runs/{id}/files/content',
  'get /v1/runs/{id}/instructions',
  'get /v1/runs/{id}/pull-request',
  'get /v1/runs/{id}/snapshots',
  'get /v1/runs/{id}/steps',
  'get /v1/runs/{id}/tasks',
  'get /v1/runs/{id}/trace',
  'get /v1/runs/{id}/turns',
  'get /v1/runs/{id}/validation',
  'get /v1/schedules',
  'get /v1/schedules/{name}',
  'get /v1/schedules/{name}/occurrences',
  'get /v1/secrets',
  'get /v1/sessions',
  'get /v1/sign-in',
  'get /v1/sign-in/callback',
  'get /v1/sign-in/start',
  'get /v1/steps/{id}',
  'get /v1/steps/{id}/attempts',
  'get /v1/steps/{id}/image',
  'get /v1/stuck',
  'get /v1/tasks/{id}',
  'get /v1/tasks/{id}/output',
  'get /v1/tools',
  'get /v1/toolsets',
  'get /v1/toolsets/{name}',
  'get /v1/webhooks',
  'get /v1/webhooks/{name}',
  'get /v1/webhooks/{name}/deliveries',
  'get /v1/workers',
  'post /v1/approvals/decisions',
  'post /v1/approvals/{id}/challenge',
  'post /v1/approvals/{id}/decision',
  'post /v1/approvals/{id}/delegate',
  'post /v1/approvals/{id}/pattern',
  'post /v1/approvals/{id}/preview',
  'post /v1/evals/{id}/cancel',
  'post /v1/hooks/github',
  'post /v1/keys',
  'post /v1/keys/{id}/rotate',
  'post /v1/mcp/servers',
  'post /v1/mcp/servers/{name}/accept',
  'post /v1/mcp/servers/{name}/look',
  'post /v1/passkeys',
  'post /v1/passkeys/permits',
  'post /v1/passkeys/registration',
  'post /v1/policies/check',
  'post /v1/policies/propose',
  'post /v1/policies/replay',
  'post /v1/policies/test',
  'post /v1/policies/{name}/test',
  'post /v1/push-subscriptions',
  'post /v1/runs',
  'post /v1/runs/{id}/calls',
  'post /v1/runs/{id}/cancel',
  'post /v1/runs/{id}/discard',
  'post /v1/runs/{id}/finish',
  'post /v1/runs/{id}/fork',
  'post /v1/runs/{id}/messages',
  'post /v1/runs/{id}/pause',
  'post /v1/runs/{id}/publish',
  'post /v1/runs/{id}/publish/dry-run',
  'post /v1/runs/{id}/pull-request/look',
  'post /v1/runs/{id}/resume',
  'post /v1/runs/{id}/retry',
  'post /v1/runs/{id}/undo',
  'post /v1/schedules/{name}/backfill',
  'post /v1/schedules/{name}/pause',
  'post /v1/schedules/{name}/resume',
  'post /v1/schedules/{name}/trigger',
  'post /v1/session',
  'post /v1/session/code',
  'post /v1/session/exchange',
  'post /v1/sign-in/back-channel-logout',
  'post /v1/sign-in/device',
  'post /v1/sign-in/device/token',
  'post /v1/steps/{id}/cancel',
  'post /v1/tasks/{id}/kill',
  'post /v1/webhooks/{name}/off',
  'post /v1/webhooks/{name}/on',
  'post /v1/webhooks/{name}/redeliver',
  'post /v1/webhooks/{name}/rotate',
  'post /v1/webhooks/{name}/test',
  'put /v1/approvals/{id}/presence',
  'put /v1/evals/{id}',
  'put /v1/log-level',
  'put /v1/policies/{name}',
  'put /v1/quotas/{tenant}',
  'put /v1/runs/{id}/mark',
  'put /v1/schedules/{name}',
  'put /v1/secrets/{name}',
  'put /v1/webhooks/{name}',
];

const operations = () =>
  Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ name: `${method} ${path}`, path, operation })),
  );

describe('the OpenAPI document', () => {
  test('has every route, and each operation a name of its own', () => {
    expect(
      operations()
        .map(({ name }) => name)
        .sort(),
    ).toEqual(routes);
    const ids = operations().map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('declares every parameter of a path, and an answer and a problem for each operation', () => {
    for (const { path, operation } of operations()) {
      const declared = (operation.parameters ?? []).filter((one) => one.in === 'path').map(({ name }) => name);
      expect(declared).toEqual([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name));
      const statuses = Object.keys(operation.responses);
      // A browser that signs in is redirected.
      expect(statuses.some((status) => /^[23]/.test(status))).toBe(true);
      for (const status of ['4XX', 'default']) {
        const { schema } = operation.responses[status]?.content['application/problem+json'] ?? {};
        expect(schema).toEqual({ $ref: '#/components/schemas/Problem' });
      }
    }
  });

  test('refers to nothing that is not there, and uses every component', () => {
    const referred = new Set([...JSON.stringify(document).matchAll(/"\$ref":"([^"]*)"/g)].map(([, ref]) => ref));
    const components = Object.keys(document.components.schemas).map((name) => `#/components/schemas/${name}`);
    expect([...referred].sort()).toEqual(components.filter((name) => referred.has(name)).sort());
    expect(components.filter((name) => !referred.has(name))).toEqual([]);
  });

  test('describes a body by what may be sent: defaults are optional', () => {
    const body = document.paths['/v1/runs']?.post?.requestBody?.content['application/json']?.schema;
    expect(body).toMatchObject({ type: 'object', additionalProperties: false });
    expect(document.components.schemas.PolicyInput).not.toHaveProperty('required');
    expect(document.components.schemas.Policy).toMatchObject({ required: expect.arrayContaining(['rules']) });
    expect(body).not.toHaveProperty('required');
    expect(Object.keys(body?.properties as object)).toEqual(
      expect.arrayContaining(['prompt', 'plan', 'toolset', 'workspace', 'policy', 'limits', 'labels']),
    );
  });

  test('is valid by the schema of OpenAPI 3.1', async () => {
    expect(await new Validator().validate(structuredClone(document))).toEqual({ valid: true });
  });

  test('no alternative fits any value: the others would say nothing', () => {
    const empty: string[] = [];
    const look = (value: unknown, at: string): void => {
      if (typeof value !== 'object' || value === null) return;
      for (const [name, item] of Object.entries(value)) {
        const isChoice = (name === 'anyOf' || name === 'oneOf') && Array.isArray(item);
        if (isChoice && item.some((one) => Object.keys(one as object).length === 0)) empty.push(at);
        look(item, `${at}/${name}`);
      }
    };
    look(document, '#');
    expect(empty).toEqual([]);
  });

  test('has a component for each shape that clients name', () => {
    const names = [
      'RunEvent',
      'Policy',
      'PolicyRule',
      'Plan',
      'Source',
      'Limits',
      'Verdict',
      'Validator',
      'Capabilities',
    ];
    expect(Object.keys(document.components.schemas)).toEqual(expect.arrayContaining(names));
  });

  test('names the headers that routes read, and the values of filters', () => {
    const taking = (name: string) =>
      operations()
        .filter(({ operation }) => operation.parameters?.some((one) => one.in === 'header' && one.name === name))
        .map((one) => one.name);
    const posts = ['', '/{id}/calls', '/{id}/fork', '/{id}/messages'].map((rest) => `post /v1/runs${rest}`);
    expect(taking('Idempotency-Key').sort()).toEqual(posts);
    expect(taking('Last-Event-ID').sort()).toEqual(['get /v1/events', 'get /v1/runs/{id}/events']);
    for (const path of ['/v1/runs', '/v1/approvals']) {
      const status = document.paths[path]?.get?.parameters?.find(({ name }) => name === 'status');
      const known = path === '/v1/runs' ? 'paused' : 'pending';
      const items = { type: 'string', enum: expect.arrayContaining([known]) };
      expect(status).toMatchObject({ style: 'form', explode: false, schema: { type: 'array', items } });
    }
  });

  test('says what the server really answers', async () => {
    const worker = testWorker(api.engine, api.dataDir);
    const write = { tool: 'write_file', args: { path: 'a.txt', content: 'a' } };
    const held = { tool: 'glob', args: { pattern: '*' } };
    const policy = { rules: [{ match: { tool: 'glob' }, action: 'hold' as const }] };
    const plan = { groups: [{ steps: [write] }, { steps: [held] }] };
    const { run } = await api.client.createRun({ plan, policy });
    await worker.drive(run.id);
    const [step] = (await api.client.listSteps(run.id)).data;
    const [approval] = (await api.client.listApprovals()).data;
    await api.client.putPolicy('house', { rules: [] });
    const ids: Record<string, string | undefined> = {
      ...{
        steps: step?.id,
        approvals: approval?.id,
        runs: run.id,
        policies: 'house',
        keys: (await api.client.listKeys()).data[0]?.id,
      },
      toolsets: 'holdpoint',
    };
    const asked: string[] = [];
    for (const { path, name, operation } of operations()) {
      const schema = operation.responses['200']?.content['application/json']?.schema;
      const [, , collection = ''] = path.split('/');
      const url = path.replace(/\{(id|name)\}/, ids[collection] ?? '{').replace('{version}', '1');
      if (!name.startsWith('get ') || schema === undefined || url.includes('{')) continue;
      const response = await api.send(url);
      if (response.status !== 200) continue;
      asked.push(path);
      const check = new Ajv2020({ strict: false, validateFormats: false }).compile({
        ...schema,
        components: document.components,
      });
      check(await response.json());
      expect([path, check.errors]).toEqual([path, null]);
    }
    expect(asked.length).toBeGreaterThan(28);
  });

  test('describes a download as bytes', () => {
    const answer = document.paths['/v1/runs/{id}/archive']?.get?.responses['200']?.content;
    const bytes = { schema: { type: 'string', format: 'binary' } };
    expect(answer).toEqual({ 'application/gzip': bytes, 'application/zip': bytes });
  });

  test('says which scope each operation needs, and that the probes need no key', () => {
    const needing = (needs: string) =>
      operations()
        .filter(({ operation }) => JSON.stringify(operation.security) === needs)
        .map(({ name }) => name)
        .sort();
    const open = [
      ...['delete /v1/session', 'get /healthz', 'get /readyz'],
      ...['get /v1/sign-in', 'get /v1/sign-in/callback', 'get /v1/sign-in/start', 'post /v1/hooks/github'],
      ...['post /v1/session', 'post /v1/session/exchange', 'post /v1/sign-in/back-channel-logout'],
      ...['post /v1/sign-in/device', 'post /v1/sign-in/device/token'],
    ];
    expect(needing('[]')).toEqual(open);
    const anyKey = [
      ...[
        'delete /v1/passkeys/{id}',
        'delete /v1/push-subscriptions/{id}',
        'delete /v1/sessions',
        'delete /v1/sessions/{id}',
        'get /v1/me',
        'get /v1/passkeys',
        'get /v1/push-key',
      ],
      ...['get /v1/push-subscriptions', 'get /v1/sessions'],
      ...['post /v1/passkeys', 'post /v1/passkeys/permits', 'post /v1/passkeys/registration'],
      ...['post /v1/push-subscriptions', 'post /v1/session/code'],
    ];
    expect(needing('[{"key":[]},{"session":[]}]')).toEqual(anyKey);
    const scoped = operations().flatMap(({ operation }) =>
      operation.security.flatMap((one) => ('key' in one ? one.key : [])),
    );
    expect(scoped).toHaveLength(operations().length - open.length - anyKey.length);
    for (const scope of scoped) expect(allScopes).toContain(scope);
  });

  test('is shown at /docs, without anything from elsewhere', async () => {
    const page = await fetch(`${api.address}/docs/`);
    const html = await page.text();
    expect(page.headers.get('content-type')).toMatch('text/html');
    expect(html).toContain('/openapi.json');
    expect(html).not.toMatch(/(src|href)="(https?:)?\/\//);
    // The bar of the page's vendor.
    expect(html).toMatch(/"showDeveloperTools":\s*"never"/);
    expect(html).toMatch(/"hideClientButton":\s*true/);
    const script = await fetch(`${api.address}/docs/js/scalar.js`);
    expect(script.headers.get('content-type')).toMatch('javascript');
    await script.body?.cancel();
  });
});
