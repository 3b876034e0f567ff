import type { Problem } from '@holdpoint/contract';
import type { RunState } from '../domain/index.ts';
import type { CodeHostUser, OpenedPull, PullRequestNews } from '../ports/index.ts';
import * as choose from './choose.ts';
import { hearingOf, type Look, type Next } from './looking.ts';
import * as pace from './pace.ts';
import { itemKey, type PullState, unansweredCode } from './state.ts';

/** Reads the pull request, decides about everything new in it, and chooses the next message to the run. */
export async function readNews(look: Look, run: RunState, pull: OpenedPull): Promise<Next> {
  const { deps, found } = look;
  const news = await deps.port.news(pull);
  const now = deps.engine.now();
  const seen = withNews(found.state, news, now);
  if (seen.status !== 'open') return { state: seen, wakeAt: now + pace.overMs };
  const hearing = hearingOf(run);
  const quiet = { ...seen, quiet: seen.quiet + 1 };
  const rest: Next = { state: quiet, wakeAt: pace.nextLook(quiet, found, now) };
  if (hearing === 'deaf') return { ...rest, wakeAt: now + pace.deafMs };
  const all = choose.freshItems(seen, news, now);
  const decided = await deps.store.decided(
    run.id,
    all.map(({ item }) => itemKey(item)),
  );
  const fresh = choose.without(all, decided);
  if (fresh.length === 0) return rest;
  if (hearing === 'busy') return { state: quiet, wakeAt: pace.busyLook(quiet, now) };
  const isUsed = hearing === 'ended' && !choose.hasRounds(seen);
  const { heard, strangers, more } = await judge(look, pull, { fresh, most: isUsed ? 1 : choose.mostItems });
  if (heard.length === 0) return { ...rest, wakeAt: more ? now + pace.busyMs : rest.wakeAt, decided: strangers };
  if (isUsed) return { state: { ...quiet, problem: choose.roundsUsed(seen) }, wakeAt: rest.wakeAt, decided: strangers };
  const chosen = choose.fitting(heard);
  const message_id = deps.engine.newId('message');
  const items = chosen.map(({ item }) => item);
  const sending = { message_id, ...choose.messageOf(seen, chosen), wake: hearing === 'ended', items };
  const rounds = seen.rounds + (sending.wake ? 1 : 0);
  return { state: { ...seen, rounds, sending }, wakeAt: 'again', decided: [...strangers, ...items.map(itemKey)] };
}

function withNews({ problem, ...state }: PullState, { status, unread }: PullRequestNews, now: number): PullState {
  return {
    ...state,
    status,
    looked_at: new Date(now).toISOString(),
    ...(problem?.code === unansweredCode && { problem }),
    ...(unread.length > 0 && { problem: unreadOf(unread) }),
  };
}

const unreadOf = (unread: readonly string[]): Problem => ({
  code: 'pull_request_unread',
  message: `The token may not read the ${unread.join(' and the ')} of the pull request: what they say does not reach the run.`,
  next: 'Give the token the right to read them, or write to the run yourself.',
});

interface Judged {
  heard: choose.Heard[];
  /** What strangers and programs wrote: decided about once and for all, and passed on to no model. */
  strangers: string[];
  /** Some accounts were not asked about. */
  more: boolean;
}

/** Accounts that the code host is asked about in one look, and checks whose logs are read. */
const mostAsked = 20;

/**
 * Asks the code host which accounts may write now. The text of a comment was read before, and its account is known by a number, so a later
 * edit and a renamed account change nothing.
 * @param options.most as many are heard, and the code host is asked about no more: each log and each right is a request
 */
async function judge(
  { deps }: Look,
  pull: OpenedPull,
  { fresh, most }: { fresh: readonly choose.Fresh[]; most: number },
): Promise<Judged> {
  const judged: Judged = { heard: [], strangers: [], more: false };
  const rights = new Map<string, boolean>();
  const mayWrite = async (user: CodeHostUser): Promise<boolean | undefined> => {
    const known = rights.get(user.id);
    if (known !== undefined || rights.size >= mostAsked) return known;
    const may = await deps.port.mayWrite(pull, user);
    rights.set(user.id, may);
    return may;
  };
  let checks = 0;
  for (const { item, remark, check } of fresh) {
    if (judged.heard.length >= most) break;
    if (check !== undefined) {
      if (checks++ >= mostAsked) judged.more = true;
      else judged.heard.push({ item, by: undefined, text: await deps.port.describeCheck(pull, check) });
      continue;
    }
    const may = remark.by?.isPerson === true ? await mayWrite(remark.by) : false;
    if (may === undefined) judged.more = true;
    else if (may) judged.heard.push({ item, by: remark.by?.name, text: remark.text });
    else judged.strangers.push(itemKey(item));
  }
  return judged;
}
