import type { PullState } from './state.ts';

/** Checks need some time to begin. */
export const firstLookMs = 20_000;

const [least, most] = [30_000, 15 * 60_000];
const hourMs = 3600_000;
/** A pull request that was published longer ago than this has an hour between its looks. */
const freshMs = 24 * hourMs;
/** Where webhooks arrive, a look by the clock only finds what a webhook lost. */
const hookedMs = hourMs;
const hookedForMs = 7 * 24 * hourMs;
/** A token that was revoked may be replaced by a new value of the same secret. */
const parkedMs = hourMs;
/** A run that publishes takes a message a little later. */
export const busyMs = 15_000;
const mostBusyMs = 5 * 60_000;
/** A pull request that is over is only looked at to remove it after its run. */
export const overMs = 24 * hourMs;
/** The run takes no message any more: the looks only follow how the pull request ends. */
export const deafMs = hourMs;
const [leastHooked, mostHooked] = [2000, 60_000];

/** Looks get rarer while nothing happens: each wait is half as long again as the one before. */
export function nextLook(state: PullState, { hookedAt }: { hookedAt: number | undefined }, now: number): number {
  if (state.status !== 'open') return now + overMs;
  const longest = now - Date.parse(state.published_at) > freshMs ? hourMs : most;
  const wait = Math.min(least * 1.5 ** Math.min(state.quiet, 20), longest);
  const isHooked = hookedAt !== undefined && now - hookedAt < hookedForMs;
  return now + (isHooked && state.quiet > 0 ? hookedMs : wait);
}

/** A publish may wait for its decision for days, and each look takes requests to the code host. */
export const busyLook = ({ quiet }: Pick<PullState, 'quiet'>, now: number): number =>
  now + Math.min(busyMs * 1.5 ** Math.min(quiet, 20), mostBusyMs);

/**
 * When a webhook has the pull request looked at. Anyone who may comment causes webhooks, so looks that find nothing get rarer: the limit of
 * requests of the token is for the run, too.
 */
export function hookedLook({ looked_at, quiet }: Pick<PullState, 'looked_at' | 'quiet'>, now: number): number {
  if (looked_at === undefined) return now;
  return Math.max(now, hookedAgain({ quiet }, Date.parse(looked_at)));
}

/** When a webhook that came during a look has the pull request looked at: what it is about may have been read before. */
export const hookedAgain = ({ quiet }: Pick<PullState, 'quiet'>, now: number): number =>
  now + Math.min(leastHooked * 2 ** Math.min(quiet, 10), mostHooked);

/** After an error that passes by itself, or does not. */
export const lookAfterError = (state: PullState, retryable: boolean, now: number): number =>
  now + (retryable ? Math.min(least * 2 ** Math.min(state.quiet, 10), most) : parkedMs);
