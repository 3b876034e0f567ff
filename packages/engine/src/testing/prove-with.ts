import { randomBytes } from 'node:crypto';
import type { DecisionToConfirm, PasskeyAssertion } from '@holdpoint/contract';
import { challengeOf } from '../passkeys/index.ts';
import type { TestPasskey } from './test-passkey.ts';

const site = { rp_id: 'localhost', origin: 'http://localhost:4747' };
export const testSite = { rpId: site.rp_id, origin: site.origin };

/** As the API answers a decision with what a browser has signed. @param of.changes what an attacker changes before the passkey signs */
export const proveWith =
  (
    passkey: TestPasskey,
    of: {
      person?: string;
      signed?: Partial<DecisionToConfirm>;
      signing?: Parameters<TestPasskey['sign']>[1];
      sent?: Partial<PasskeyAssertion>;
    } = {},
  ) =>
  async (decision: DecisionToConfirm): Promise<PasskeyAssertion> => {
    const { person = decision.by, signed, signing, sent } = of;
    const nonce = randomBytes(32).toString('base64url');
    const challenge = challengeOf({ ...decision, ...signed }, { nonce, person });
    const { response } = passkey.sign(challenge, signing);
    return {
      ...{ v: 1, nonce, person, credential_id: passkey.id, public_key: passkey.publicKey, ...site },
      ...{ client_data_json: response.clientDataJSON, authenticator_data: response.authenticatorData },
      signature: response.signature,
      ...sent,
    };
  };
