import { CallerError, type Callers, type DueSession } from '@holdpoint/callers';
import type { AuditEntry } from '@holdpoint/contract';
import type { FastifyBaseLogger } from 'fastify';
import type { Config } from '../config.ts';
import { type ApiDeps, recordChange, type ServerDeps } from '../deps.ts';
import { ApiProblem } from '../errors/to-problem.ts';
import type { SignIn } from './open-sign-in.ts';
import { openSeal } from './seal.ts';

interface Deps extends Pick<ApiDeps, 'audit' | 'now'> {
  signIn: SignIn;
  callers: Pick<Callers, 'signIns'>;
  logger: Pick<FastifyBaseLogger, 'warn' | 'error'>;
}

/**
 * Has the identity provider confirm sessions when they are due: rights follow the groups, a session that the provider no longer confirms
 * ends, and all of a person without a group. Any API process does so, one for each session. While the provider is away nothing changes,
 * until the session ends unconfirmed.
 */
function startConfirming(deps: Deps, everyMs: number): { stop(): Promise<void> } {
  let running: Promise<void> | undefined;
  let isAway = false;
  const round = async (): Promise<void> => {
    try {
      for (;;) {
        const due = await deps.callers.signIns.claimDue();
        if (due.length === 0) return;
        const answers = await Promise.all(due.map((one) => confirmOne(deps, one)));
        const away = answers.includes('away');
        if (away && !isAway)
          deps.logger.warn({ event: 'sign_in_unavailable' }, 'the identity provider does not answer');
        isAway = away;
        if (away) return;
      }
    } catch (err) {
      deps.logger.error({ event: 'sign_ins_not_confirmed', err }, 'sessions wait for their confirmation');
    }
  };
  const timer = setInterval(() => {
    running ??= round().finally(() => {
      running = undefined;
    });
  }, everyMs);
  timer.unref();
  return {
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}

/** The sign-ins of the operator's identity provider, and the process that has their sessions confirmed. */
export async function startSignIns(
  { signIn: settings, dataDir, secrets }: Pick<Config, 'signIn' | 'dataDir' | 'secrets'>,
  { sweepMs, ...deps }: Pick<ServerDeps, 'callers' | 'audit' | 'logger' | 'now'> & { sweepMs: number },
): Promise<{ signIn: SignIn; stop(): Promise<void> } | undefined> {
  if (settings === undefined) return undefined;
  // An API without an identity provider loads no libraries of OpenID Connect.
  const { openSignIn } = await import('./open-sign-in.ts');
  const signIn = openSignIn({ ...deps, settings, secrets, seal: await openSeal(dataDir) });
  const everyMs = Math.max(50, Math.min(sweepMs, settings.refresh_s * 250));
  return { signIn, ...startConfirming({ ...deps, signIn }, everyMs) };
}

async function confirmOne(deps: Deps, due: DueSession): Promise<'confirmed' | 'ended' | 'away'> {
  const { signIn, callers } = deps;
  try {
    const token = signIn.seal.open(due.sealed, `refresh ${due.subject}`);
    if (token === undefined) throw new ApiProblem('sign_in_failed', 'the refresh token cannot be read');
    const { tokens, identity } = await signIn.refresh(token, { subject: due.subject, tenant: due.caller.tenant });
    const next = signIn.confirmationOf(tokens, due.subject);
    // A provider that does not rotate them leaves the token out.
    await callers.signIns.confirm(due, { ...next, sealed: next.sealed ?? due.sealed, scopes: identity.scopes });
    return 'confirmed';
  } catch (error) {
    if (error instanceof ApiProblem && error.code === 'sign_in_unavailable') return 'away';
    if (!(error instanceof ApiProblem) && !(error instanceof CallerError)) throw error;
    await endUnconfirmed(deps, due, error);
    return 'ended';
  }
}

/** A person without a group loses all rights; a session that the provider has ended takes no other with it. */
async function endUnconfirmed(deps: Deps, due: DueSession, error: ApiProblem | CallerError): Promise<void> {
  const { signIns } = deps.callers;
  const hasNoRights = error instanceof CallerError && error.code === 'sign_in_refused';
  if (hasNoRights) {
    await signIns.confirm(due, { sealed: due.sealed, everyMs: 1, holdMs: 1, scopes: [] });
  }
  const ended = hasNoRights
    ? await signIns.endAll(due.keyId)
    : await signIns.end({ keyId: due.keyId }, due.id).then(
        () => [due.id],
        () => [],
      );
  for (const id of ended) await recordEnd(deps, { id, keyId: due.keyId, caller: due.caller }, error.message);
}

/** Adds the end of a session by the provider to the audit log. */
export async function recordEnd(
  { audit, now }: Pick<ApiDeps, 'audit' | 'now'>,
  { id, keyId, caller }: { id: string; keyId: string; caller: DueSession['caller'] },
  why: string,
): Promise<void> {
  const change: Pick<AuditEntry, 'subject' | 'action' | 'detail'> = {
    ...{ subject: `session/${id}`, action: 'ended', detail: { key: keyId, by: 'identity provider', why } },
  };
  await recordChange({ audit, now, holder: { caller } }, change);
}
