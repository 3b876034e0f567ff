import type { CallDescription, Json, RunSpec, Touches, Verdict } from '@holdpoint/contract';
import {
  type CallFacts,
  describeTouches,
  nothingTouched,
  readingPrograms,
  type ToolsetPolicy,
  toolsetPolicy,
} from '@holdpoint/policy';
import type { EngineDeps } from '../deps.ts';
import { judgeCall, judgeGrants, policiesInForce, policiesOf } from '../domain/index.ts';
import type { ToolCatalog } from '../ports/index.ts';

/** `touches`: absent for a tool that is gone. Then a policy can match the tool and its effect only. */
type Described = Pick<Extract<CallDescription, { ok: true }>, 'effect' | 'risk' | 'gate'> & {
  touches?: Touches | undefined;
};

/** The verdict of the run's permissions and of the policies in force on a call, with the name of the policies. @param args as the caller wrote them */
export function judgeDescribed(
  { operatorPolicy, catalog }: Pick<EngineDeps, 'operatorPolicy' | 'catalog'>,
  spec: RunSpec,
  call: { tool: string; args: Json; described: Described },
): { verdict: Verdict; policies: string } {
  const current = operatorPolicy?.();
  const facts = factsOf(spec, call);
  const toolset = toolsetPolicyOf(catalog, spec);
  const judged = () => withQuestion(judgeCall(spec, current, facts, toolset), call.described.gate);
  return { verdict: judgeGrants(spec, facts) ?? judged(), policies: policiesInForce(spec, current, toolset) };
}

/**
 * The programs of a call that may run as one that reads (`readingPrograms`), whatever its tool says of its effect; undefined for any other. A
 * run whose commands see the tree read-only has no use for it, and a command in the background outlives its call.
 */
export function readsOf(
  { operatorPolicy, catalog, walls }: Pick<EngineDeps, 'operatorPolicy' | 'catalog' | 'walls'>,
  spec: RunSpec,
  { verdict, ...call }: { tool: string; args: Json; described: Known; verdict: Verdict },
): string[] | undefined {
  const { touches, sequential, effect } = call.described;
  const isAble = walls === true && verdict.action === 'allow' && effect !== 'read' && !spec.modes.read_only;
  if (!isAble || sequential || touches.background) return undefined;
  const bound = { ...policiesOf(spec, operatorPolicy?.()), toolset: toolsetPolicyOf(catalog, spec) };
  return readingPrograms(bound, factsOf(spec, call));
}

type Known = Extract<CallDescription, { ok: true }>;

/** What the toolset of a run says of its calls. */
export const toolsetPolicyOf = (
  catalog: Pick<ToolCatalog, 'rules'>,
  { toolset, settings, modes }: Pick<RunSpec, 'toolset'> & Partial<Pick<RunSpec, 'settings' | 'modes'>>,
): ToolsetPolicy | undefined => toolsetPolicy(toolset, catalog.rules(toolset, settings, modes));

/** What the policies know of a call. @param args as the caller wrote them */
export const factsOf = (
  { toolset, labels, submitted_by }: Pick<RunSpec, 'toolset' | 'labels' | 'submitted_by'>,
  { tool, args, described }: { tool: string; args: Json; described: Omit<Described, 'gate'> },
): CallFacts => {
  const { effect, risk, touches } = described;
  return {
    toolset,
    tool,
    effect,
    risk,
    args,
    touches: touches ? describeTouches(touches) : nothingTouched,
    labels,
    submitted_by,
  };
};

/** A question to a person parks whatever the policy says, unless the policy denies it. */
export const withQuestion = (verdict: Verdict, gate: 'input' | undefined): Verdict =>
  gate === 'input' && verdict.action !== 'deny' ? { action: 'hold', reason: 'the agent asks a person' } : verdict;
