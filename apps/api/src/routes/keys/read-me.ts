import { meSchema } from '@holdpoint/contract/wire';
import type { App } from '../../deps.ts';

/** GET /v1/me: the caller named by the key. */
export function readMeRoute(app: App): void {
  app.get(
    '/v1/me',
    {
      config: { access: 'any key' },
      schema: {
        tags: ['keys'],
        operationId: 'getMe',
        summary: 'Read the caller and what its key allows',
        response: { 200: meSchema },
      },
    },
    async ({ deps: { holder } }) => ({
      ...holder.caller,
      key_id: holder.keyId,
      scopes: [...holder.scopes],
      expires_at: holder.expiresAt,
      limits: holder.limits,
    }),
  );
}
