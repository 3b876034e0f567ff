import { defaultTenant } from '@holdpoint/contract';
import { secretListSchema, secretParamsSchema, secretSchema, setSecretSchema } from '@holdpoint/contract/wire';
import type { ApiDeps, App } from '../../deps.ts';

/** /v1/secrets: names of secrets, and values that only go in. */
export function secretsRoutes(app: App, { secrets }: Pick<ApiDeps, 'secrets'>): void {
  app.get(
    '/v1/secrets',
    {
      schema: {
        tags: ['secrets'],
        operationId: 'listSecrets',
        summary: 'List the secrets that runs may use, without their values',
        response: { 200: secretListSchema },
      },
    },
    async () => ({ data: secrets.list(defaultTenant) }),
  );

  app.put(
    '/v1/secrets/:name',
    {
      schema: {
        tags: ['secrets'],
        operationId: 'setSecret',
        summary: 'Set a secret of the encrypted store',
        description:
          'The value replaces the one before it. Commands that start from now on get it; the value before it is redacted until the programs restart.',
        params: secretParamsSchema,
        body: setSecretSchema,
        response: { 200: secretSchema },
      },
    },
    async ({ params, body }) => secrets.set(params.name, body.value, { tenant: defaultTenant }),
  );

  app.delete(
    '/v1/secrets/:name',
    {
      schema: {
        tags: ['secrets'],
        operationId: 'removeSecret',
        summary: 'Remove a secret from the encrypted store',
        description: 'Calls that need it fail from now on. Commands that run keep it.',
        params: secretParamsSchema,
        response: { 200: secretSchema },
      },
    },
    async ({ params }) => secrets.remove(params.name, { tenant: defaultTenant }),
  );
}
