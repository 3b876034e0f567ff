import { CallerError, type Identity } from '@holdpoint/callers';
import type { Tenant } from '@holdpoint/contract';
import * as oidc from 'openid-client';
import { rightsOf, type SignInSettings } from '../sign-in-settings.ts';
import type { Provider } from './provider.ts';

export type Tokens = oidc.TokenEndpointResponse & oidc.TokenEndpointResponseHelpers;
type Claims = Readonly<Record<string, unknown>>;

/**
 * The person of some tokens, with the rights of their groups. A claim that the ID token lacks is asked of the provider.
 * @param expected who it has to be; a refresh may come without an ID token
 * @throws CallerError `sign_in_refused`
 */
export async function identify(
  settings: SignInSettings,
  { config, issuer }: Provider,
  { tokens, tenant, expected }: { tokens: Tokens; tenant?: Tenant | undefined; expected?: string },
): Promise<Identity & { sid?: string | undefined }> {
  const own: Claims = tokens.claims() ?? {};
  const subject = typeof own.sub === 'string' ? own.sub : expected;
  if (subject === undefined || (expected !== undefined && subject !== expected)) {
    throw new CallerError('sign_in_refused', 'the identity provider answered for another person');
  }
  if (settings.blocked.includes(subject)) throw new CallerError('sign_in_refused', 'this account is blocked here');
  const claims = await withUserInfo(settings, own, () => oidc.fetchUserInfo(config, tokens.access_token, subject), {
    needsName: expected === undefined,
    canAsk: config.serverMetadata().userinfo_endpoint !== undefined,
  });
  const rights = rightsOf(settings, groupsIn(claims[settings.groups_claim]), tenant);
  if (rights === undefined) {
    throw new CallerError(
      'sign_in_refused',
      `no group of this account has access${tenant === undefined ? '' : ` to ${tenant}`}`,
    );
  }
  const name = expected === undefined ? nameIn(settings, claims) : '';
  const sid = typeof own.sid === 'string' && own.sid !== '' ? own.sid : undefined;
  const person = Object.hasOwn(settings.persons, subject) ? settings.persons[subject] : undefined;
  return { issuer, subject, name, person, ...rights, sid };
}

async function withUserInfo(
  { groups_claim, name_claim }: SignInSettings,
  own: Claims,
  ask: () => Promise<Claims>,
  { needsName, canAsk }: { needsName: boolean; canAsk: boolean },
): Promise<Claims> {
  const isWhole = own[groups_claim] !== undefined && (!needsName || own[name_claim] !== undefined);
  return isWhole || !canAsk ? own : { ...(await ask()), ...own };
}

const groupsIn = (claim: unknown): string[] =>
  [claim].flat().filter((group): group is string => typeof group === 'string');

/** An address that the provider did not check could be that of a colleague. */
function nameIn({ name_claim }: SignInSettings, claims: Claims): string {
  const name = claims[name_claim];
  if (typeof name !== 'string') {
    throw new CallerError('sign_in_refused', `the identity provider gives no ${name_claim} for this account`);
  }
  if (name_claim === 'email' && claims.email_verified === false) {
    throw new CallerError('sign_in_refused', 'the identity provider has not verified the address of this account');
  }
  return name;
}
