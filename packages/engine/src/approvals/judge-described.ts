import * as contract from '@holdpoint/contract';
import * as policy from '@holdpoint/policy';
import type { EngineDeps } from '../deps.ts';
import { judgeCall, judgeGrants, policiesInForce, policiesOf } from '../domain/index.ts';
import type { ToolCatalog } from '../ports/index.ts';

/** `touches`: absent for a tool that is gone. Then a policy can match only the tool and its effect. */
type Described = Pick<Extract<contract.CallDescription, { ok: true }>, 'effect' | 'risk' | 'gate'> & {
  touches?: contract.Touches | undefined;
};

/**
 * The verdict on a call by the run's permissions and the policies in force, with the name of the policies. @param args the caller's
 * original arguments
 */
export function judgeDescribed(
  { operatorPolicy, catalog }: Pick<EngineDeps, 'operatorPolicy' | 'catalog'>,
  spec: contract.RunSpec,
  call: { tool: string; args: contract.Json; described: Described },
): { verdict: contract.Verdict; policies: string } {
  const current = operatorPolicy?.();
  const facts = factsOf(spec, call);
  const toolset = toolsetPolicyOf(catalog, spec);
  const judged = () => withQuestion(judgeCall(spec, current, facts, toolset), call.described.gate);
  return { verdict: judgeGrants(spec, facts) ?? judged(), policies: policiesInForce(spec, current, toolset) };
}

/**
 * The programs of a call that may run as a read (`readingPrograms`), whatever effect its tool declares; undefined for any other call.
 * Undefined
 * also in a run whose commands see the tree read-only, and for a background command, because the command outlives its call.
 */
export function readsOf(
  { operatorPolicy, catalog, walls }: Pick<EngineDeps, 'operatorPolicy' | 'catalog' | 'walls'>,
  spec: contract.RunSpec,
  { verdict, ...call }: { tool: string; args: contract.Json; described: Known; verdict: contract.Verdict },
): string[] | undefined {
  const { touches, sequential, effect } = call.described;
  const isAble = walls === true && verdict.action === 'allow' && effect !== 'read' && !contract.readsOnly(spec.modes);
  if (!isAble || sequential || touches.background) return undefined;
  const bound = { ...policiesOf(spec, operatorPolicy?.()), toolset: toolsetPolicyOf(catalog, spec) };
  return policy.readingPrograms(bound, factsOf(spec, call));
}

type Known = Extract<contract.CallDescription, { ok: true }>;

/** The toolset's rules for the calls of a run. */
export const toolsetPolicyOf = (
  catalog: Pick<ToolCatalog, 'rules'>,
  {
    toolset,
    settings,
    modes,
  }: Pick<contract.RunSpec, 'toolset'> & Partial<Pick<contract.RunSpec, 'settings' | 'modes'>>,
): policy.ToolsetPolicy | undefined => policy.toolsetPolicy(toolset, catalog.rules(toolset, settings, modes));

/** The facts about a call that policies judge. @param args the caller's original arguments */
export const factsOf = (
  { toolset, labels, submitted_by }: Pick<contract.RunSpec, 'toolset' | 'labels' | 'submitted_by'>,
  { tool, args, described }: { tool: string; args: contract.Json; described: Omit<Described, 'gate'> },
): policy.CallFacts => {
  const { effect, risk, touches } = described;
  return {
    toolset,
    tool,
    effect,
    risk,
    args,
    touches: touches ? policy.describeTouches(touches) : policy.nothingTouched,
    labels,
    submitted_by,
  };
};

/**
 * A question to a person and a plan are held under any policy, unless the policy denies the call. A rule that holds the plan keeps its terms,
 * for example its deciders.
 */
export function withQuestion(verdict: contract.Verdict, gate: contract.CallGate | undefined): contract.Verdict {
  if (gate === undefined || verdict.action === 'deny') return verdict;
  if (gate === 'input') return { action: 'hold', reason: 'the agent asks a person' };
  return verdict.action === 'hold' ? verdict : { action: 'hold', reason: 'the run asks for a decision on its plan' };
}

/** A command of `prepare` that may not run. */
export interface RefusedCommand {
  /** From 0. */
  index: number;
  message: string;
}

const allowed = contract.policySchema.parse({ rules: [{ match: {}, action: 'allow' }] });

/** Tools whose rules bind a command of `prepare`: otherwise `prepare` would be a way around a rule that denies the toolset's shell. */
const judgedAs = ({ catalog }: Pick<EngineDeps, 'catalog'>, { toolset }: contract.RunSpec): readonly string[] => [
  ...new Set([...contract.toolsOfPrepare, ...catalog.grants(toolset).shells]),
];

/**
 * The first command of `prepare` that may not run. The submitter wrote the commands, so neither the submitter's policy nor the built-in
 * rules hold a command. Permissions, modes and every denying rule bind. So does an operator's rule that holds, because no person can be
 * asked here.
 */
export function refusedCommand(
  deps: Pick<EngineDeps, 'operatorPolicy' | 'catalog'>,
  spec: contract.RunSpec,
): RefusedCommand | undefined {
  const { prepare } = spec;
  if (prepare === undefined) return undefined;
  const current = deps.operatorPolicy?.();
  const tools = judgedAs(deps, spec);
  const network = hostsOf(spec);
  const unheld = { ...spec, policy: allowed };
  for (const [index, { command }] of prepare.commands.entries()) {
    for (const tool of tools) {
      const effect = contract.hasNetwork(network) ? 'external' : 'workspace';
      const touches = { paths: [], command, cwd: '.', hosts: [] };
      const facts = factsOf(spec, { tool, args: { command }, described: { effect, risk: 'medium', touches } });
      const verdict =
        judgeGrants(spec, facts) ?? denial(judgeCall(spec, current, facts)) ?? judgeCall(unheld, current, facts);
      if (verdict.action === 'allow') continue;
      const how = verdict.action === 'hold' ? 'needs a person, and no person is asked before a run' : 'is denied';
      return { index, message: `the command ${index + 1} of prepare ${how} (${verdict.reason}): ${lineOf(command)}` };
    }
  }
  return undefined;
}

const denial = (verdict: contract.Verdict): contract.Verdict | undefined =>
  verdict.action === 'deny' ? verdict : undefined;

/** The hosts of `prepare` that permissions and modes leave open. */
export const hostsOf = (spec: contract.RunSpec): { allow: string[] } => ({
  allow: [...policy.openHosts(spec, spec.prepare?.network.allow ?? [])],
});

/** The text of a command in an event. */
export const lineOf = (command: string): string =>
  command.length <= contract.longestLine ? command : `${command.slice(0, contract.longestLine)}…`;
