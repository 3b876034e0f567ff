import { hasNetwork, longestLine, policySchema, type RunSpec, toolsOfPrepare, type Verdict } from '@holdpoint/contract';
import { openHosts } from '@holdpoint/policy';
import type { EngineDeps } from '../deps.ts';
import { judgeCall, judgeGrants } from '../domain/index.ts';
import { factsOf } from './judge-described.ts';

/** A command of `prepare` that may not run. */
export interface RefusedCommand {
  /** From 0. */
  index: number;
  message: string;
}

const allowed = policySchema.parse({ rules: [{ match: {}, action: 'allow' }] });

/** Tools whose rules bind a command of `prepare`: otherwise `prepare` would be a way around a rule that denies the toolset's shell. */
const judgedAs = ({ catalog }: Pick<EngineDeps, 'catalog'>, { toolset }: RunSpec): readonly string[] => [
  ...new Set([...toolsOfPrepare, ...catalog.grants(toolset).shells]),
];

/**
 * The first command of `prepare` that may not run. The submitter wrote the commands, so neither the submitter's policy nor the built-in
 * rules hold a command. Permissions, modes and every denying rule bind. So does an operator's rule that holds, because no person can be
 * asked here.
 */
export function refusedCommand(
  deps: Pick<EngineDeps, 'operatorPolicy' | 'catalog'>,
  spec: RunSpec,
): RefusedCommand | undefined {
  const { prepare } = spec;
  if (prepare === undefined) return undefined;
  const current = deps.operatorPolicy?.();
  const tools = judgedAs(deps, spec);
  const network = hostsOf(spec);
  const unheld = { ...spec, policy: allowed };
  for (const [index, { command }] of prepare.commands.entries()) {
    for (const tool of tools) {
      const effect = hasNetwork(network) ? 'external' : 'workspace';
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

const denial = (verdict: Verdict): Verdict | undefined => (verdict.action === 'deny' ? verdict : undefined);

/** The hosts of `prepare` that permissions and modes leave open. */
export const hostsOf = (spec: RunSpec): { allow: string[] } => ({
  allow: [...openHosts(spec, spec.prepare?.network.allow ?? [])],
});

/** The text of a command in an event. */
export const lineOf = (command: string): string =>
  command.length <= longestLine ? command : `${command.slice(0, longestLine)}…`;
