import type { AssertionOptions, Passkey, PasskeyPermit, RegistrationOptions } from '@holdpoint/contract/wire';
import { createTestPasskey, type TestPasskey } from '@holdpoint/engine/testing';
import type { TestApi } from './test-api.ts';

/** A page of the server at its name, in a browser with a passkey. */
export interface PasskeyPage {
  origin: string;
  passkey: TestPasskey;
  post(path: string, body: unknown): Promise<Response>;
  /** @throws when the server refuses */
  ask<Answer>(path: string, body: unknown): Promise<Answer>;
  add(more?: { permit?: string | undefined }): Promise<Response>;
}

/** @param credentials of a key, or of a session */
export function openPasskeyPage(
  api: Pick<TestApi, 'address'>,
  credentials: Record<string, string>,
  passkey?: TestPasskey,
): PasskeyPage {
  const origin = api.address.replace('127.0.0.1', 'localhost');
  const own = passkey ?? createTestPasskey({ rpId: 'localhost', origin });
  const post = (path: string, body: unknown) =>
    fetch(`${origin}${path}`, {
      ...{ method: 'POST', body: JSON.stringify(body) },
      headers: { 'content-type': 'application/json', origin, ...credentials },
    });
  const page: PasskeyPage = {
    origin,
    passkey: own,
    post,
    async ask<Answer>(path: string, body: unknown) {
      const response = await post(path, body);
      const text = await response.text();
      if (!response.ok) throw new Error(`${path}: ${text}`);
      return JSON.parse(text) as Answer;
    },
    async add({ permit } = {}) {
      const begun = await page.ask<RegistrationOptions>('/v1/passkeys/registration', { permit });
      const assertion = begun.assertion === null ? undefined : own.sign(begun.assertion.challenge);
      const registration = own.register(begun.registration.challenge);
      return post('/v1/passkeys', { name: 'Laptop', registration, assertion });
    },
  };
  return page;
}

/** A page of a person with one passkey. */
export async function pageWithPasskey(api: TestApi, key: string, person: string): Promise<PasskeyPage> {
  const page = openPasskeyPage(api, { authorization: `Bearer ${key}` });
  const { code }: PasskeyPermit = await api.client.permitPasskey({ person });
  const added = await page.add({ permit: code });
  if (added.status !== 201) throw new Error(await added.text());
  ((await added.json()) as Passkey).id satisfies string;
  return page;
}

/** Has the passkey of a page sign a decision. */
export async function signedBy(page: PasskeyPage, approvalId: string, decision: object) {
  const { challenge } = await page.ask<AssertionOptions>(`/v1/approvals/${approvalId}/challenge`, decision);
  return { challenge, assertion: page.passkey.sign(challenge) };
}
