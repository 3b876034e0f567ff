import type { ApiBounds } from '@holdpoint/contract/wire';
import type { Config } from '../shell/index.ts';
import type { Finding } from './finding.ts';

const name = 'sign-in';

/** Whether people can sign in with the identity provider that the running API knows. */
export function checkSignIn(
  running: Pick<ApiBounds, 'sign_in'> | undefined,
  { environment }: Pick<Config, 'environment'>,
): Finding[] {
  const found = running?.sign_in;
  if (found === undefined) return [];
  if (found === null) {
    if (environment.HOLDPOINT_SIGN_IN === undefined)
      return [{ name, level: 'ok', text: 'with keys (HOLDPOINT_SIGN_IN names no identity provider)' }];
    const next = 'Restart the API with HOLDPOINT_SIGN_IN.';
    return [{ name, level: 'warn', text: 'HOLDPOINT_SIGN_IN is set, and the running API does not know it', next }];
  }
  const { issuer, url, problem, device_flow, back_channel_logout } = found;
  if (problem !== null) {
    const next = `Look at ${issuer} from the machine of the API, and at the file of HOLDPOINT_SIGN_IN. Sessions hold for hold_s.`;
    return [{ name, level: 'fail', text: `no person can sign in: ${problem}`, next }];
  }
  const lacks = [
    ...(device_flow ? [] : ['the device flow (holdpoint login)']),
    ...(back_channel_logout ? [] : ['back-channel logout']),
  ];
  const text = `with ${issuer}, at ${url}${lacks.length === 0 ? '' : `; it offers no ${lacks.join(' and no ')}`}`;
  return [{ name, level: 'ok', text, data: { device_flow, back_channel_logout } }];
}
