import * as wire from '@holdpoint/contract/wire';
import type { Transport } from '../request.ts';
import { at, entriesOf, type ListOptions, type Options } from './request-parts.ts';

export const sessionRequests = ({ ask, send }: Transport) => ({
  /** A code that logs a browser in once, within a minute: `/login#code=…`. */
  async createLoginCode({ signal }: Options = {}): Promise<wire.LoginCode> {
    return (await ask({ method: 'POST', path: '/v1/session/code', signal }, wire.loginCodeSchema)).body;
  },

  /** The logins of browsers with this key, newest first. */
  async listSessions(options: ListOptions = {}): Promise<wire.Session[]> {
    const { body } = await ask({ path: '/v1/sessions', signal: options.signal }, wire.sessionListSchema);
    return entriesOf(body, options);
  },

  /** Ends all of them at once; how many they were. */
  async endSessions({ signal }: Options = {}): Promise<number> {
    return (await ask({ method: 'DELETE', path: '/v1/sessions', signal }, wire.endedSessionsSchema)).body.ended;
  },

  async endSession(id: string, { signal }: Options = {}): Promise<void> {
    await (await send({ method: 'DELETE', path: at('sessions', id), signal })).text();
  },

  /** Whether people sign in with an identity provider here. Needs no key. */
  async getSignInOptions({ signal }: Options = {}): Promise<wire.SignInOptions> {
    return (await ask({ path: '/v1/sign-in', signal }, wire.signInOptionsSchema)).body;
  },

  /** Begins the sign-in of a command: the person opens the page and types the code. Needs no key. */
  async startDeviceSignIn({ signal }: Options = {}): Promise<wire.DeviceSignIn> {
    return (await ask({ method: 'POST', path: '/v1/sign-in/device', signal }, wire.deviceSignInSchema)).body;
  },

  /** Whether the person has signed in; ask no more often than `interval` says. Needs no key. */
  async pollDeviceSignIn(
    body: { device: string; tenant?: string | undefined },
    { signal }: Options = {},
  ): Promise<wire.DeviceToken> {
    return (await ask({ method: 'POST', path: '/v1/sign-in/device/token', body, signal }, wire.deviceTokenSchema)).body;
  },
});
