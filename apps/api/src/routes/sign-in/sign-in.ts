import { CallerError, type Device } from '@holdpoint/callers';
import type { Caller } from '@holdpoint/contract';
import * as wire from '@holdpoint/contract/wire';
import type { FastifyReply, FastifyRequest } from 'fastify';
import * as cookies from '../../auth/session-cookie.ts';
import { type App, recordChange, type ServerDeps as Server } from '../../deps.ts';
import { ApiProblem } from '../../errors/to-problem.ts';
import { emptyAnswer } from '../../schema/empty.ts';
import { isBrowserSecret, newBrowserSecret, pageOf } from '../../sign-in/attempt.ts';
import { recordEnd } from '../../sign-in/confirm.ts';
import type { SignIn } from '../../sign-in/open-sign-in.ts';

interface ServerDeps extends Server {
  /** Undefined: the operator names no identity provider. */
  signIn: SignIn | undefined;
}

const tags = ['sign-in'];
const open = { access: 'open' } as const;

/** Persons sign in with the operator's identity provider: in a browser, or with the command. */
export function signInRoutes(app: App, deps: ServerDeps): void {
  app.get(
    '/v1/sign-in',
    {
      config: open,
      schema: {
        ...{ tags, operationId: 'getSignInOptions', summary: 'Read whether people sign in with an identity provider' },
        response: { 200: wire.signInOptionsSchema },
      },
    },
    async () => ({ available: deps.signIn !== undefined, label: deps.signIn?.settings.label ?? null }),
  );
  browserRoutes(app, deps);
  deviceRoutes(app, deps);
  logoutRoute(app, deps);
}

function browserRoutes(app: App, deps: ServerDeps): void {
  app.get(
    '/v1/sign-in/start',
    {
      // A HEAD request would begin a sign-in as well.
      exposeHeadRoute: false,
      config: open,
      schema: {
        ...{ tags, operationId: 'startSignIn', summary: 'Send a browser to the identity provider' },
        description: 'Sets the cookie `holdpoint_sign_in`, which the browser sends with the answer of the provider.',
        querystring: wire.startSignInQuerySchema,
        response: { 302: emptyAnswer },
      },
    },
    async (request, reply) => {
      const signIn = offered(deps);
      const { to, tenant, moved } = request.query;
      const home = new URL(signIn.settings.url);
      if (request.headers.host !== home.host && moved === undefined) {
        // The provider sends the browser to this address, with the cookies of this address.
        return reply.redirect(
          `${new URL(`/v1/sign-in/start?${new URLSearchParams({ ...request.query, moved: '1' })}`, home)}`,
        );
      }
      const kept = cookies.signInSecretOf(request);
      const secret = kept !== undefined && isBrowserSecret(kept) ? kept : newBrowserSecret();
      try {
        const before = await presentSession(deps, request);
        const place = await signIn.begin(secret, { to: pageOf(to), tenant, before });
        cookies.setSignInCookie(reply, secret, home.protocol === 'https:');
        return reply.redirect(place.href);
      } catch (error) {
        return backToLogin(request, reply, error);
      }
    },
  );

  app.get(
    '/v1/sign-in/callback',
    {
      exposeHeadRoute: false,
      config: open,
      schema: {
        ...{ tags, operationId: 'completeSignIn', summary: 'Take the answer of the identity provider' },
        description: 'Opens the session of the browser. A refusal leads to the login page, which says why.',
        querystring: wire.completeSignInQuerySchema,
        response: { 303: emptyAnswer },
      },
    },
    async (request, reply) => {
      const signIn = offered(deps);
      try {
        const query = request.url.slice(request.url.indexOf('?') + 1);
        const { attempt, ...opened } = await signIn.complete(cookies.signInSecretOf(request), query);
        await endBefore(deps, attempt.before);
        await recordOpened(deps, opened, 'browser');
        cookies.setCookie(reply, opened.token, new URL(signIn.settings.url).protocol === 'https:');
        return reply.redirect(attempt.to, 303);
      } catch (error) {
        return backToLogin(request, reply, error);
      }
    },
  );
}

function deviceRoutes(app: App, deps: ServerDeps): void {
  app.post(
    '/v1/sign-in/device',
    {
      config: open,
      schema: {
        ...{ tags, operationId: 'startDeviceSignIn', summary: 'Begin the sign-in of a command' },
        description: 'The device flow (RFC 8628). Without it at the provider: 409 `device_flow_missing`.',
        response: { 201: wire.deviceSignInSchema },
      },
    },
    async (_request, reply) => reply.code(201).send(await offered(deps).beginDevice()),
  );

  app.post(
    '/v1/sign-in/device/token',
    {
      config: open,
      schema: {
        ...{ tags, operationId: 'pollDeviceSignIn', summary: 'Ask whether the person has signed in' },
        description: 'The token stands for a session: it ends as one, and `GET /v1/sessions` lists it.',
        body: wire.deviceTokenRequestSchema,
        response: { 200: wire.deviceTokenSchema },
      },
    },
    async ({ body: { device, tenant } }) => {
      const opened = await offered(deps).pollDevice(device, tenant);
      if (opened === undefined) return { token: null };
      const { name, tenant: own } = await recordOpened(deps, opened, 'command');
      return { token: opened.token, name, tenant: own };
    },
  );
}

/** The only route with a form: other routes refuse forms, which any page of a browser can send. */
function logoutRoute(parent: App, deps: ServerDeps): void {
  parent.register(async (app: App) => {
    app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, done) => {
      done(null, Object.fromEntries(new URLSearchParams(String(body))));
    });
    app.post(
      '/v1/sign-in/back-channel-logout',
      {
        config: open,
        schema: {
          ...{
            tags,
            operationId: 'logOutByProvider',
            summary: 'End the sessions that the identity provider has ended',
          },
          description: 'OpenID Connect Back-Channel Logout 1.0. The provider sends it, as a form.',
          consumes: ['application/x-www-form-urlencoded'],
          body: wire.providerLogoutSchema,
          response: { 204: emptyAnswer },
        },
      },
      async ({ body }, reply) => {
        const ended = await offered(deps).logOut(body.logout_token);
        for (const { caller, ...one } of ended) {
          if (caller !== undefined) await recordEnd(deps, { ...one, caller }, 'logged out there');
        }
        return reply.code(204).send();
      },
    );
  });
}

/** @throws ApiProblem `sign_in_off` */
function offered({ signIn }: ServerDeps): SignIn {
  if (signIn === undefined) throw new ApiProblem('sign_in_off', 'people log in with keys here');
  return signIn;
}

/** A browser shows the login page with the reason; nothing of the address is shown. */
function backToLogin(request: FastifyRequest, reply: FastifyReply, error: unknown): FastifyReply {
  if (!(error instanceof ApiProblem) && !(error instanceof CallerError)) throw error;
  request.log.info({ event: 'sign_in_refused', code: error.code, detail: error.message }, 'a sign-in was refused');
  return reply.redirect(`/login#refused=${error.code}`, 303);
}

/** Sealed: the browser could otherwise name the session of another person. */
async function presentSession({ callers, signIn }: ServerDeps, request: FastifyRequest): Promise<string | undefined> {
  const token = cookies.tokenOf(request);
  if (token === undefined) return undefined;
  const found = await callers.checkSession(token).catch(refusedOnly);
  if (found?.holder.session === undefined) return undefined;
  return signIn?.seal.seal(`${found.holder.keyId} ${found.holder.session}`, 'before');
}

/** A browser that signs in again leaves no session behind. */
async function endBefore({ callers, signIn }: ServerDeps, before: string | undefined): Promise<void> {
  if (before === undefined) return;
  const [keyId = '', id = ''] = signIn?.seal.open(before, 'before')?.split(' ') ?? [];
  await callers.signIns.end({ keyId }, id).catch(refusedOnly);
}

/** A session that has ended already. */
function refusedOnly(error: unknown): undefined {
  if (!(error instanceof CallerError)) throw error;
}

async function recordOpened(
  deps: ServerDeps,
  { id, keyId, caller }: { id: string; keyId: string; caller: Caller },
  device: Device,
): Promise<Caller> {
  const detail = { key: keyId, by: 'identity provider', device };
  await recordChange({ ...deps, holder: { caller } }, { subject: `session/${id}`, action: 'opened', detail });
  return caller;
}
