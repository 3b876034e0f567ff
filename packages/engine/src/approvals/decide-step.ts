import * as contract from '@holdpoint/contract';
import type { EngineDeps } from '../deps.ts';
import * as domain from '../domain/index.ts';
import { fromPayload, readSpec, toPayload } from '../log/index.ts';
import { chooseRule, decisionOf } from './choose-rule.ts';
import { type Checked, confirmDecision, type DecisionRequest } from './confirm-decision.ts';
import { describeCall } from './describe-call.ts';
import { judgeDescribed } from './judge-described.ts';
import { newRule, rulesAbout, whyNotRemembered } from './remembered-rules.ts';
import { submittersOf } from './submitters.ts';
import type { StepApproval } from './view-approval.ts';

/** A decision about a call, by a caller with the right to decide. */
export async function decideStep(deps: EngineDeps, view: StepApproval, request: DecisionRequest): Promise<Checked> {
  const { decision: kind, by, message, args } = request;
  if (kind === 'respond' && (message ?? '').trim() === '') {
    throw new domain.EngineError(
      'invalid_decision',
      'the decision respond needs a message: the answer to the question',
    );
  }
  if ((kind === 'edit') !== (args !== undefined)) {
    throw new domain.EngineError(
      'invalid_decision',
      'args belong to the decision edit, and the decision edit needs args',
    );
  }
  const panel = await readPanel(deps, view, [by]);
  const caller = { name: by, kind: request.kind ?? 'person' };
  const reason = domain.whyNot(panel, caller);
  if (reason !== undefined) throw new domain.EngineError('not_a_decider', reason);
  if (kind === 'edit' && !domain.decidesAlone(panel, caller)) {
    throw new domain.EngineError('not_a_decider', `other callers have to agree as well, so ${by} cannot edit the call`);
  }
  const votes = kind === 'approve' ? addVote(deps, view, panel, { caller, message }) : undefined;
  if (votes === 'already voted') return votes;
  if (votes?.isPartial && request.remember !== undefined) throw new domain.EngineError('invalid_decision', notAlone);
  const edited = args && (await checkEdited(deps, view, args));
  if (edited !== undefined && 'invalid' in edited) {
    const { invalid } = edited;
    if (request.settlesInvalid !== true) throw new domain.EngineError('invalid_decision', invalid.message);
    return domain.decide(view.run, view.step, view.approval, {
      kind: 'reject',
      digest: view.digest,
      by,
      message,
      error: invalid,
    });
  }
  const answers = kind === 'respond' ? await answersIn(deps, view, message ?? '') : undefined;
  const rule = request.remember && (await newRule(deps, view, { panel, caller, request, remember: request.remember }));
  // Last of all checks: a passkey signs a challenge once.
  const assertion = await confirmDecision(view, request, { kind, edited });
  const all = votes && [...votes.before, { ...votes.own, assertion }];
  if (votes?.isPartial && all !== undefined) return domain.vote(view.run, view.step, view.approval, { by, votes: all });
  const several = all !== undefined && all.length > 1 ? all : undefined;
  return domain.decide(view.run, view.step, view.approval, {
    ...{ kind, digest: view.digest, by, message, edited, rule, votes: several },
    assertion: several === undefined ? assertion : undefined,
    answers,
    answer: kind === 'respond' ? await answerTo(deps, view, message ?? '') : undefined,
  });
}

/**
 * The decision of the rules in force about a call that was already waiting when one of them was made; undefined when none of them, or no
 * maker, decides on the call.
 */
export async function answerByRules(deps: EngineDeps, view: StepApproval): Promise<domain.Transition | undefined> {
  const { run, step, approval, digest } = view;
  if (approval.status !== 'pending' || whyNotRemembered(view) !== undefined) return undefined;
  const rules = await rulesAbout(deps, view);
  if (rules.length === 0) return undefined;
  const makers = rules.map(({ rule }) => rule.made.by);
  const rule = chooseRule(rules, await readPanel(deps, view, makers), approval.request);
  if (rule === undefined) return undefined;
  const { by, message } = rule.made;
  const kind = decisionOf(rule);
  const error = kind === 'reject' ? domain.remembersRejection(rule) : undefined;
  return domain.decide(run, step, approval, { kind, digest, by, message, error, ruleId: rule.id });
}

const notAlone = 'a call on which several callers decide cannot be remembered by one of them';

/** The deciders of a call. @param names of callers to judge, in addition to the voters */
export async function readPanel(
  deps: EngineDeps,
  { run, step, approval }: StepApproval,
  names: readonly string[],
): Promise<domain.Panel> {
  const { deciders, edited_by = [] } = approval.request;
  const separates = deciders?.some(({ not_submitter }) => not_submitter) ?? false;
  if (!separates && !domain.needsSeveral(deciders)) return domain.panelOf(approval, []);
  const own = separates ? await submittersOf(deps, run, step.id) : [];
  const submitters = own && [...own, ...edited_by];
  const voters = (approval.votes ?? []).map(({ by }) => by);
  const persons = await readPersons(deps, run, [...names, ...voters, ...(submitters ?? [])]);
  return domain.panelOf(approval, submitters, persons);
}

/** The caller's vote, beside the earlier ones. */
function addVote(
  deps: Pick<EngineDeps, 'now'>,
  { approval, digest }: StepApproval,
  panel: domain.Panel,
  { caller, message }: { caller: domain.Decider; message: string | undefined },
): { before: contract.Vote[]; own: contract.Vote; isPartial: boolean } | 'already voted' {
  const before = domain.votesOn(approval.votes, digest);
  if (before.some(({ by }) => by === caller.name)) return 'already voted';
  const same = before.find(({ by }) => domain.isSamePerson(panel, by, caller.name));
  if (same !== undefined) {
    const reason = `${caller.name} and ${same.by}, who has approved, are keys of one person: another person has to approve`;
    throw new domain.EngineError('not_a_decider', reason);
  }
  const { name: by, kind } = caller;
  const at = new Date(deps.now()).toISOString();
  const own = { by, kind, action_digest: digest, message, at };
  const voters = [...before, own].map((one) => ({ name: one.by, kind: one.kind }));
  return { before, own, isPartial: domain.whatIsMissing(panel, voters) !== undefined };
}

/**
 * The values that the other side of a call asked for, in the words of a person; undefined for any other question.
 * @throws EngineError `invalid_decision`
 */
async function answersIn(
  { blobs }: EngineDeps,
  { step, approval }: StepApproval,
  said: string,
): Promise<domain.Decision['answers']> {
  if (step.asked === undefined || !domain.isOutsideQuestion(step, approval)) return undefined;
  const read = contract.readAnswers(await fromPayload(blobs, step.asked.question), said);
  if (!read.ok) throw new domain.EngineError('invalid_decision', `this does not answer the question: ${read.problem}`);
  return toPayload(blobs, read.value);
}

/** The result of a question, made from a person's answer. */
async function answerTo(
  deps: EngineDeps,
  { run, step }: StepApproval,
  words: string,
): Promise<domain.Decision['answer'] | undefined> {
  if (step.call.gate !== 'input') return undefined;
  const call = { toolset: run.header.toolset, tool: step.call.tool, args: await fromPayload(deps.blobs, step.args) };
  const made = deps.catalog.answer(call, words);
  return 'error' in made ? made : { value: await toPayload(deps.blobs, made.value) };
}

/** The call with a person's arguments, or the reason why the call cannot run with these arguments. */
async function checkEdited(
  deps: EngineDeps,
  view: StepApproval,
  args: contract.Json,
): Promise<
  (NonNullable<domain.Decision['edited']> & Pick<contract.Verdict, 'confirm'>) | { invalid: contract.Problem }
> {
  const { run, step } = view;
  const described = await describeEdit(deps, view, args);
  if (!described.ok) return { invalid: described.error };
  const { effect } = described;
  if (step.effect === 'read' && effect !== 'read') {
    const message = 'a call that only reads cannot become one that writes: other calls beside it have begun';
    return { invalid: { code: 'EINVALIDARGS', message } };
  }
  const { tool } = step.call;
  const { verdict } = judgeDescribed(deps, domain.asPlanned(await readSpec(deps, run), step.call), {
    tool,
    args,
    described,
  });
  if (verdict.action === 'deny') {
    return { invalid: { code: 'EPERMISSION', message: `the policy denies the edited call: ${verdict.reason}` } };
  }
  return { args: await toPayload(deps.blobs, described.args), effect, confirm: verdict.confirm };
}

/** Describes a held call with edited arguments, in the run that made the call. */
export async function describeEdit(
  deps: Pick<EngineDeps, 'redis' | 'blobs' | 'catalog'>,
  { run, step }: StepApproval,
  args: contract.Json,
): Promise<contract.CallDescription> {
  return describeCall(deps, domain.asPlanned(await readSpec(deps, run), step.call), {
    run,
    tool: step.call.tool,
    args,
  });
}

/** The persons who have held keys with these names in the tenant of a run. */
export async function readPersons(
  { redis }: Pick<EngineDeps, 'redis'>,
  { tenant = contract.defaultTenant }: Pick<domain.RunState, 'tenant'>,
  names: readonly string[],
): Promise<NonNullable<domain.Panel['persons']>> {
  const wanted = [...new Set(names)];
  const found = await Promise.all(wanted.map((name) => redis.smembers(contract.personsKey(tenant, name))));
  return new Map(wanted.flatMap((name, at) => (found[at]?.length ? [[name, found[at]] as const] : [])));
}
