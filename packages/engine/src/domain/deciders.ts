import type { ApprovalTerms, Caller, Deciders, DecisionKind, EventOf, Verdict, Vote } from '@holdpoint/contract';
import { compileGlob } from '@holdpoint/policy';
import type { ApprovalState, StepState } from './model.ts';

/** Who asks to decide. */
export type Decider = Pick<Caller, 'name' | 'kind'>;

/** Who decides on an approval: each entry of `deciders` must be satisfied. */
export interface Panel {
  deciders: readonly Deciders[];
  delegations: NonNullable<ApprovalState['delegations']>;
  /** Globs on further names since the escalation. */
  escalated: readonly string[];
  /** The callers who submitted or forked the run or a run above. Undefined: not known. */
  submitters: readonly string[] | undefined;
  /** The persons behind keys with a name. A name not listed here is a person of its own. */
  persons?: ReadonlyMap<string, readonly string[]> | undefined;
}

export const panelOf = (
  { request, delegations = [], escalated = [] }: Pick<ApprovalState, 'request' | 'delegations' | 'escalated'>,
  submitters: Panel['submitters'],
  persons?: Panel['persons'],
): Panel => ({ deciders: request.deciders ?? [], delegations, escalated, submitters, persons });

/** Whether several callers have to approve. */
export const needsSeveral = (deciders: readonly Deciders[] = []): boolean =>
  deciders.some(({ quorum = 1 }) => quorum > 1);

/** Why a caller has no say in an approval; undefined when the caller has. */
export function whyNot(panel: Panel, caller: Decider): string | undefined {
  if (caller.kind === 'agent') return `${caller.name} is an agent, and agents decide nothing`;
  const { deciders } = panel;
  const reasons = deciders.map((entry) => whyNotIn(panel, entry, caller));
  return reasons.every((reason) => reason !== undefined) ? reasons[0] : undefined;
}

/** Why the approvals by these callers, each with one vote, do not suffice; undefined when they do. */
export function whatIsMissing(panel: Panel, voters: readonly Decider[]): string | undefined {
  for (const entry of panel.deciders) {
    const { quorum = 1 } = entry;
    const seats = seatsTaken(panel, entry, voters);
    if (seats >= quorum) continue;
    const who = entry.names === undefined ? 'callers' : `callers named ${entry.names.join(' or ')}`;
    return `${quorum} of the ${who} must approve, and ${seats} did`;
  }
  return undefined;
}

/** Whether the caller alone satisfies every entry. */
export const decidesAlone = (panel: Panel, caller: Decider): boolean => whatIsMissing(panel, [caller]) === undefined;

/** Why a caller cannot let another caller decide; undefined when the caller can. */
export function whyNoDelegation(panel: Panel, from: Decider, to: Decider): string | undefined {
  if (to.kind === 'agent') return `${to.name} is an agent, and agents decide nothing`;
  if (from.name === to.name) return `${from.name} may decide already`;
  const own = { ...panel, delegations: [] };
  const shared = panel.deciders.filter((entry) => whyNotIn(own, entry, from) === undefined);
  if (panel.deciders.length === 0) return 'every caller with the scope approvals:decide may decide already';
  if (shared.length === 0) return `${from.name} does not decide in their own right`;
  if (whyNot(own, to) === undefined && shared.every((entry) => whyNotIn(own, entry, to) === undefined)) {
    return `${to.name} may decide already`;
  }
  const barred = shared.map((entry) => whyBarred(panel, entry, to)).filter((reason) => reason !== undefined);
  return barred.length === shared.length ? barred[0] : undefined;
}

/** The votes on exactly this action. */
export const votesOn = (votes: readonly Vote[] = [], digest: string): Vote[] =>
  votes.filter((vote) => vote.action_digest === digest);

function whyNotIn(panel: Panel, entry: Deciders, caller: Decider): string | undefined {
  const barred = whyBarred(panel, entry, caller);
  if (barred !== undefined) return barred;
  if (isNamed(panel, entry, caller.name) || delegatorsOf(panel, entry, caller.name).length > 0) return undefined;
  return `only callers named ${[...(entry.names ?? []), ...panel.escalated].join(' or ')} may decide`;
}

/** Why the caller may not decide, even with a delegation or an escalation. */
function whyBarred(panel: Panel, { kinds, not_submitter }: Deciders, caller: Decider): string | undefined {
  if (caller.kind === 'agent') return `${caller.name} is an agent, and agents decide nothing`;
  if (kinds !== undefined && !kinds.includes(caller.kind)) return `only a ${kinds.join(' or ')} may decide`;
  if (!not_submitter) return undefined;
  const { submitters } = panel;
  if (submitters === undefined) return 'who submitted the run may not decide, and it is not known who did';
  if (submitters.includes(caller.name)) {
    return `${caller.name} submitted the run, its calls or an edit of this call, and may not decide on it`;
  }
  const same = submitters.find((name) => isSamePerson(panel, name, caller.name));
  return same && `${caller.name} and ${same}, who submitted it, are keys of one person, who may not decide on it`;
}

/** Whether the same person has held keys with both names. */
export function isSamePerson({ persons }: Pick<Panel, 'persons'>, one: string, other: string): boolean {
  const of = (name: string): readonly string[] => persons?.get(name) ?? [name];
  return one === other || of(one).some((person) => of(other).includes(person));
}

const isNamed = ({ escalated }: Panel, { names }: Deciders, name: string): boolean =>
  names === undefined || [...names, ...escalated].some((glob) => matches(glob, name));

/** Who let this caller decide and may decide in their own right. */
const delegatorsOf = (panel: Panel, entry: Deciders, name: string): string[] =>
  panel.delegations.filter(({ from, to }) => to === name && isNamed(panel, entry, from)).map(({ from }) => from);

/** A delegate takes the place of who named them: both together count once, as all keys of a person do. */
function seatsTaken(panel: Panel, entry: Deciders, voters: readonly Decider[]): number {
  const able = voters.filter((voter) => whyNotIn(panel, entry, voter) === undefined);
  const counting = able.filter(
    (voter, at) => !able.slice(0, at).some((one) => isSamePerson(panel, one.name, voter.name)),
  );
  const own = counting.filter(({ name }) => isNamed(panel, entry, name)).map(({ name }) => name);
  const taken = new Set(own);
  for (const { name } of counting.filter((voter) => !own.includes(voter.name))) {
    const free = delegatorsOf(panel, entry, name).find((from) => !taken.has(from));
    if (free !== undefined) taken.add(free);
  }
  return taken.size;
}

/** An unreadable glob matches no name. */
function matches(glob: string, name: string): boolean {
  try {
    return compileGlob(glob, false).test(name);
  } catch {
    return false;
  }
}

type Asked = Pick<EventOf<'approval.requested'>['data'], 'allowed_decisions'> & ApprovalTerms;

/** The terms of the approval of a held call, from its verdict. */
export function termsOf(step: StepState, verdict: Verdict): Asked {
  const { rule, part, deciders, expires_s, confirm, remind_after_s, escalate } = verdict;
  const isQuestion = step.call.gate === 'input';
  const isPlan = step.call.gate === 'plan';
  const several = needsSeveral(deciders);
  const all: DecisionKind[] = isQuestion ? ['respond', 'reject'] : ['approve', 'edit', 'reject', 'respond'];
  const offered = verdict.decisions === undefined ? all : [...verdict.decisions, 'reject'];
  return {
    ...{ rule, part, deciders, expires_s, confirm, remind_after_s, escalate },
    // Silence answers no question, approves no plan, has no passkey, and does not replace several callers.
    on_expiry:
      verdict.on_expiry === 'allow' && !isQuestion && !isPlan && !several && confirm === undefined
        ? 'allow'
        : undefined,
    allowed_decisions: all.filter(
      (one) => offered.includes(one) && !(several && (one === 'edit' || one === 'respond')),
    ),
  };
}

/** The terms of an approval, for the next approval about the same call. */
export const sameTerms = ({
  rule,
  part,
  deciders,
  expires_s,
  on_expiry,
  confirm,
  remind_after_s,
  escalate,
}: ApprovalTerms): ApprovalTerms => ({
  ...{ rule, part, deciders, expires_s, on_expiry, confirm, remind_after_s, escalate },
});
