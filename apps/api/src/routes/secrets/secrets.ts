import { secretListSchema, secretParamsSchema, secretSchema, setSecretSchema } from '@holdpoint/contract/wire';
import { type App, recordChange } from '../../deps.ts';

/** /v1/secrets: names of secrets, and values with no way out. */
const config = { access: 'secrets:write' } as const;

export function secretsRoutes(app: App): void {
  app.get(
    '/v1/secrets',
    {
      config,
      schema: {
        tags: ['secrets'],
        operationId: 'listSecrets',
        summary: 'List the secrets that runs may use, without their values',
        response: { 200: secretListSchema },
      },
    },
    async ({ deps: { secrets, holder } }) => ({ data: secrets.list(holder.caller.tenant) }),
  );

  app.put(
    '/v1/secrets/:name',
    {
      config,
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
    async ({ params: { name }, body, deps }) => {
      const secret = await deps.secrets.set(name, body.value, deps.holder.caller);
      await recordChange(deps, { subject: `secret/${name}`, action: 'set', detail: { version: secret.version } });
      return secret;
    },
  );

  app.delete(
    '/v1/secrets/:name',
    {
      config,
      schema: {
        tags: ['secrets'],
        operationId: 'removeSecret',
        summary: 'Remove a secret from the encrypted store',
        description: 'Calls that need it fail from now on. Commands that run keep it.',
        params: secretParamsSchema,
        response: { 200: secretSchema },
      },
    },
    async ({ params: { name }, deps }) => {
      const secret = await deps.secrets.remove(name, deps.holder.caller);
      await recordChange(deps, { subject: `secret/${name}`, action: 'removed' });
      return secret;
    },
  );
}
