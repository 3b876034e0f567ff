import type { Verdict } from '@holdpoint/contract';
import type { WorkerDeps } from '../deps.ts';
import {
  actionDigest,
  coveringDigests,
  decidesAlone,
  type RuleState,
  type RunState,
  type StepState,
  termsOf,
} from '../domain/index.ts';
import { fromPayload } from '../log/index.ts';
import { advisoryOf } from './advisory-arguments.ts';
import { askTool } from './ask-tool.ts';
import type { ShownCall } from './preview-call.ts';
import { readPersons } from './read-persons.ts';
import { rulesFor } from './rule-index.ts';
import { submittersOf } from './submitters.ts';

/**
 * The remembered rule that approves a call held by the policy, with the digest of the approved action. The rule's maker must have the
 * right to approve this call alone, and the tool must have no question.
 */
export async function findAnswer(
  deps: WorkerDeps,
  run: RunState,
  step: StepState,
  { verdict, shown }: { verdict: Verdict; shown: ShownCall },
  signal: AbortSignal,
): Promise<{ rule: RuleState; digest: string } | undefined> {
  const { reaches, uses } = shown;
  if (verdict.rule === undefined || step.call.gate !== undefined) return undefined;
  if (!termsOf(step, verdict).allowed_decisions.includes('approve')) return undefined;
  const { toolset } = run.header;
  const args = await fromPayload(deps.blobs, step.args);
  const { tool } = step.call;
  const call = { toolset, tool, args, effect: step.effect, reaches };
  const rules = await rulesFor(deps, run, coveringDigests(call, advisoryOf(deps.catalog, call)));
  if (rules.length === 0) return undefined;
  const { deciders = [] } = verdict;
  const separates = deciders.some(({ not_submitter }) => not_submitter);
  const submitters = separates ? await submittersOf(deps, run, step.id) : [];
  const makers = rules.map(({ rule: { made } }) => made.by);
  const persons = separates ? await readPersons(deps, run, [...makers, ...(submitters ?? [])]) : undefined;
  const panel = { deciders, delegations: [], escalated: [], submitters, persons };
  const found = rules.find(({ rule: { made } }) => decidesAlone(panel, { name: made.by, kind: made.kind }));
  if (found === undefined || (await askTool(deps, run, step, signal)) !== undefined) return undefined;
  const digest = actionDigest({ toolset, tool, args, snapshot: run.snapshot ?? '', uses, reaches });
  return { rule: found.rule, digest };
}
