import type { Verdict } from '@holdpoint/contract';
import type { WorkerDeps } from '../deps.ts';
import * as domain from '../domain/index.ts';
import { fromPayload } from '../log/index.ts';
import { advisoryOf } from './advisory-arguments.ts';
import { askTool } from './ask-tool.ts';
import { chooseRule, decisionOf } from './choose-rule.ts';
import type { ShownCall } from './preview-call.ts';
import { readPersons } from './read-persons.ts';
import { rulesFor } from './rule-index.ts';
import { submittersOf } from './submitters.ts';

/**
 * The remembered rule that decides a call held by the policy, with the digest of the decided action. The rule's maker must have the right to
 * decide so on this call, and a call is approved only when the tool has no question.
 */
export async function findAnswer(
  deps: WorkerDeps,
  run: domain.RunState,
  step: domain.StepState,
  { verdict, shown }: { verdict: Verdict; shown: ShownCall },
  signal: AbortSignal,
): Promise<{ rule: domain.RuleState; digest: string } | undefined> {
  const { reaches, uses } = shown;
  if (verdict.rule === undefined || step.call.gate !== undefined) return undefined;
  const { toolset } = run.header;
  const args = await fromPayload(deps.blobs, step.args);
  const { tool } = step.call;
  const call = { toolset, tool, args, effect: step.effect, reaches };
  const rules = await rulesFor(deps, run, domain.coveringDigests(call, advisoryOf(deps.catalog, call)));
  if (rules.length === 0) return undefined;
  const panel = await panelFor(deps, run, step, { verdict, rules });
  const rule = chooseRule(rules, panel, domain.termsOf(step, verdict));
  if (rule === undefined) return undefined;
  if (decisionOf(rule) === 'approve' && (await askTool(deps, run, step, signal)) !== undefined) return undefined;
  return { rule, digest: domain.actionDigest({ toolset, tool, args, snapshot: run.snapshot ?? '', uses, reaches }) };
}

/** Who decides on a call that no approval asks about yet. */
async function panelFor(
  deps: WorkerDeps,
  run: domain.RunState,
  step: domain.StepState,
  { verdict: { deciders = [] }, rules }: { verdict: Verdict; rules: readonly { rule: domain.RuleState }[] },
): Promise<domain.Panel> {
  const separates = deciders.some(({ not_submitter }) => not_submitter);
  const submitters = separates ? await submittersOf(deps, run, step.id) : [];
  const makers = rules.map(({ rule: { made } }) => made.by);
  const persons = separates ? await readPersons(deps, run, [...makers, ...(submitters ?? [])]) : undefined;
  return { deciders, delegations: [], escalated: [], submitters, persons };
}
