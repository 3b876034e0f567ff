import { assertionOptionsSchema, challengeDecisionSchema, idParamsSchema } from '@holdpoint/contract/wire';
import { challengeOf } from '@holdpoint/engine';
import type { App } from '../../deps.ts';
import { askAssertion } from '../../passkeys/ask-assertion.ts';
import { siteOf } from '../../passkeys/site-of.ts';
import { checkEdit, requestOf } from './decide.ts';

/** POST /v1/approvals/{id}/challenge: what a passkey has to sign for a decision. */
export function challengeRoute(app: App): void {
  app.post(
    '/v1/approvals/:id/challenge',
    {
      config: { access: 'approvals:decide' },
      schema: {
        tags: ['approvals'],
        operationId: 'challengeDecision',
        summary: 'Ask for the challenge of a decision by passkey',
        description:
          'Takes the decision as it will be sent, and checks it as if it were sent. The challenge is a hash of the approval, the digest, the decision, edited arguments, the message, the caller and a nonce. ' +
          'It is signed once, within five minutes, by a passkey of the caller for this server (`navigator.credentials.get`); the decision has the answer as its `assertion`. ' +
          'Needs the header Origin of a page of this server. A page at an address in place of a name is 409 `passkey_address`; a person without a passkey 409 `no_passkey`.',
        params: idParamsSchema,
        body: challengeDecisionSchema,
        response: { 200: assertionOptionsSchema },
      },
    },
    async (request) => {
      const { params, body, deps } = request;
      await checkEdit(deps, params.id, body);
      const decision = await deps.engine.approvals.toConfirm(params.id, requestOf(deps, body));
      const site = siteOf(deps, request);
      return askAssertion(deps, site, { use: 'decision', challenge: (signed) => challengeOf(decision, signed) });
    },
  );
}
