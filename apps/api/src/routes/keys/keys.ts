import type { KeyRecord } from '@holdpoint/callers';
import { allScopes, nearestNames, type Scope, scopeSchema } from '@holdpoint/contract';
import * as wire from '@holdpoint/contract/wire';
import { type ApiDeps, type App, recordChange } from '../../deps.ts';
import { ApiProblem, showEach } from '../../errors/to-problem.ts';

const tags = ['keys'];
const config = { access: 'keys:admin' } as const;

export function keysRoutes(app: App): void {
  app.get(
    '/v1/keys',
    {
      config,
      schema: {
        tags,
        operationId: 'listKeys',
        summary: 'List the keys of a tenant, newest first',
        description:
          'Revoked and expired keys are listed too. Callers of the tenant `default` may name another tenant.',
        querystring: wire.listKeysQuerySchema,
        response: { 200: wire.keyPageSchema },
      },
    },
    async ({ query, deps }) => {
      const { next, ...page } = await deps.callers.list(deps.holder, query);
      const shown = await showEach(deps, page, { idOf: ({ id }) => id, show: (one) => toKey(deps, one) });
      return { ...shown, next_cursor: next, has_more: next !== null };
    },
  );

  app.post(
    '/v1/keys',
    {
      config,
      schema: {
        tags,
        operationId: 'createKey',
        summary: 'Create a key',
        description:
          'The answer has the text of the key, which nothing stores. A key gets no more than its creator has: scopes, limits, expiry, ' +
          'and tenant (403 `key_not_allowed`). A key of kind `agent` never holds `approvals:decide` (422 `invalid_key`).',
        body: wire.createKeySchema,
        response: { 201: wire.issuedKeySchema },
      },
    },
    async ({ body, deps }, reply) => {
      const { record, text } = await deps.callers.create(deps.holder, { ...body, scopes: checkScopes(body.scopes) });
      const { id, name, kind, scopes, tenant } = toKey(deps, record);
      await recordChange(deps, { subject: `key/${id}`, action: 'created', detail: { name, kind, scopes, tenant } });
      reply.header('location', `/v1/keys/${record.id}`).header('cache-control', 'no-store');
      return reply.code(201).send({ ...toKey(deps, record), key: text });
    },
  );

  app.get(
    '/v1/keys/:id',
    {
      config,
      schema: {
        tags,
        operationId: 'getKey',
        summary: 'Read a key',
        params: wire.idParamsSchema,
        response: { 200: wire.keySchema },
      },
    },
    async ({ params, deps }) => toKey(deps, await deps.callers.get(deps.holder, params.id)),
  );

  app.delete(
    '/v1/keys/:id',
    {
      config,
      schema: {
        tags,
        operationId: 'revokeKey',
        summary: 'Revoke a key',
        description:
          'After the answer no request with the key is accepted, and its event streams end. Revoking again changes nothing.',
        params: wire.idParamsSchema,
        response: { 200: wire.keySchema },
      },
    },
    async ({ params: { id }, deps }) => {
      const key = toKey(deps, await deps.callers.revoke(deps.holder, id));
      await recordChange(deps, { subject: `key/${id}`, action: 'revoked', detail: { name: key.name } });
      return key;
    },
  );

  app.post(
    '/v1/keys/:id/rotate',
    {
      config,
      schema: {
        tags,
        operationId: 'rotateKey',
        summary: 'Give a key another text',
        description:
          'Id, name, scopes and limits stay. The text before is valid for `grace_s` seconds more, and any earlier one ends at once.',
        params: wire.idParamsSchema,
        body: wire.rotateKeySchema.nullish(),
        response: { 200: wire.issuedKeySchema },
      },
    },
    async ({ params, body, deps }, reply) => {
      const { record, text } = await deps.callers.rotate(deps.holder, { id: params.id, graceS: body?.grace_s ?? 0 });
      await recordChange(deps, { subject: `key/${params.id}`, action: 'rotated', detail: { name: record.name } });
      reply.header('cache-control', 'no-store');
      return { ...toKey(deps, record), key: text };
    },
  );
}

/** @throws ApiProblem `unknown_scope`, with the nearest names */
function checkScopes(asked: readonly string[]): Scope[] {
  const errors = asked.flatMap((scope, index) => {
    if (scopeSchema.safeParse(scope).success) return [];
    const nearest = nearestNames(scope, allScopes).join(', ');
    return [{ pointer: `/scopes/${index}`, detail: `there is no scope ${JSON.stringify(scope)}. Nearest: ${nearest}` }];
  });
  const [first] = errors;
  if (first !== undefined) throw new ApiProblem('unknown_scope', first.detail, { errors });
  return asked as Scope[];
}

/** The API's view of a key. */
function toKey({ callers }: Pick<ApiDeps, 'callers'>, record: KeyRecord): wire.Key {
  const { isFirst: _, ...shown } = record;
  return { ...shown, limits: callers.limitsOf(record) };
}
