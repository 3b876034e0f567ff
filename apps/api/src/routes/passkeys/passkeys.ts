import type { Passkey as StoredPasskey } from '@holdpoint/callers';
import { defaultTenant } from '@holdpoint/contract';
import * as wire from '@holdpoint/contract/wire';
import { type ApiDeps, type App, recordChange } from '../../deps.ts';
import { ApiProblem } from '../../errors/to-problem.ts';
import { siteOf } from '../../passkeys/ask-assertion.ts';
import { addPasskey, beginRegistration, recordPasskey } from '../../passkeys/register.ts';
import { emptyAnswer } from '../../schema/empty.ts';

const tags = ['passkeys'];
const config = { access: 'any key' } as const;

/** The passkeys of persons: who has one proves with it the decisions that a policy names. */
export function passkeysRoutes(app: App): void {
  app.get(
    '/v1/passkeys',
    {
      config,
      schema: {
        tags,
        operationId: 'listPasskeys',
        summary: 'List the passkeys of your person, or of another one',
        querystring: wire.listPasskeysQuerySchema,
        response: { 200: wire.passkeyListSchema },
      },
    },
    async ({ query, deps }) => {
      const { caller } = deps.holder;
      const person = query.person ?? (await deps.callers.personOf(deps.holder));
      const { tenant = caller.tenant } = query;
      if (query.person !== undefined || tenant !== caller.tenant) assertManages(deps, { tenant, person });
      return { data: (await deps.callers.passkeys.list({ tenant, person })).map(toPasskey) };
    },
  );

  app.post(
    '/v1/passkeys/registration',
    {
      config,
      schema: {
        tags,
        operationId: 'beginPasskeyRegistration',
        summary: 'Begin to add a passkey',
        description:
          'For a key of kind person, and a page of this server (header Origin). Permitted by a code of the operator (`permit`), or by a passkey that the person has for this server, which signs `assertion`. Completed within five minutes by POST /v1/passkeys.',
        body: wire.beginRegistrationSchema,
        response: { 200: wire.registrationOptionsSchema },
      },
    },
    async (request) => beginRegistration(request.deps, siteOf(request.deps, request), request.body),
  );

  app.post(
    '/v1/passkeys',
    {
      config,
      schema: {
        tags,
        operationId: 'addPasskey',
        summary: 'Add the passkey that the browser made',
        description:
          'Recorded in the audit log with its public key, against which `audit verify` checks its decisions.',
        body: wire.addPasskeySchema,
        response: { 201: wire.passkeySchema },
      },
    },
    async ({ body, deps }, reply) =>
      reply.code(201).send(toPasskey({ ...(await addPasskey(deps, body)), last_used_at: null })),
  );

  app.delete(
    '/v1/passkeys/:id',
    {
      config,
      schema: {
        tags,
        operationId: 'revokePasskey',
        summary: 'Revoke a passkey of your person, or with keys:admin of another one',
        description: 'After the answer nothing is decided with it. Decisions that were made with it stay proved.',
        params: wire.idParamsSchema,
        response: { 204: emptyAnswer },
      },
    },
    async ({ params: { id }, deps }, reply) => {
      const stored = await findManaged(deps, id);
      await deps.callers.passkeys.remove(stored);
      await recordPasskey(deps, stored, 'revoked');
      return reply.code(204).send();
    },
  );

  app.post(
    '/v1/passkeys/permits',
    {
      config,
      schema: {
        tags,
        operationId: 'permitPasskey',
        summary: 'Permit a person to add a passkey',
        description:
          'With the key in the key file alone, and never with a session. The code works once, within an hour, and the person types it on the page: for a first passkey, and for a person who has lost all of them.',
        body: wire.createPermitSchema,
        response: { 201: wire.passkeyPermitSchema },
      },
    },
    async ({ body: { person, tenant: given }, deps }, reply) => {
      const tenant = given ?? deps.holder.caller.tenant;
      const permit = await deps.callers.passkeys.createPermit(deps.holder, { tenant, person });
      await recordChange(deps, { subject: `person/${person}`, action: 'permitted a passkey', detail: { tenant } });
      return reply.code(201).send({ ...permit, person, tenant });
    },
  );
}

/** @throws ApiProblem `passkey_not_found`, also for a passkey that the caller may not see */
async function findManaged(deps: ApiDeps, id: string): Promise<StoredPasskey> {
  const { callers, holder } = deps;
  const found = await callers.passkeys.find(id);
  const isOwn = found?.tenant === holder.caller.tenant && found.person === (await callers.personOf(holder));
  if (found !== undefined && (isOwn || manages(deps, found))) return found;
  throw new ApiProblem('passkey_not_found', `you have no passkey ${id}`);
}

const manages = ({ holder: { caller, scopes } }: ApiDeps, { tenant }: Pick<StoredPasskey, 'tenant'>): boolean =>
  scopes.includes('keys:admin') && (caller.tenant === tenant || caller.tenant === defaultTenant);

/** @throws ApiProblem `missing_scope` */
function assertManages(deps: ApiDeps, of: Pick<StoredPasskey, 'tenant' | 'person'>): void {
  if (manages(deps, of)) return;
  throw new ApiProblem(
    'missing_scope',
    `the passkeys of ${of.person} need the scope keys:admin in the tenant ${of.tenant}`,
  );
}

const toPasskey = ({ id, name, person, rp_id, created_at, created_by, last_used_at }: StoredPasskey): wire.Passkey => ({
  ...{ id, name, person, rp_id, created_at, created_by, last_used_at },
});
