import * as contract from '@holdpoint/contract';
import { type AskedGrants, narrowWritten, openHosts } from '@holdpoint/policy';

/**
 * The spec with only the hosts left open by its permissions and modes: all code that asks for the network of a run reads the hosts there.
 */
export const withOpenHosts = (spec: contract.RunSpec): contract.RunSpec => ({
  ...spec,
  network: { ...spec.network, allow: openHosts(spec, spec.network.allow) },
});

/** A fork or a sub-agent has at most the permissions and modes of its parent. Requested grants beyond them are left out. */
export function narrowSpec(parent: contract.RunSpec, asked: AskedGrants): contract.RunSpec {
  const { permissions, protected: globs, modes } = narrowWritten(parent, asked);
  return withOpenHosts({ ...parent, permissions: permissions && [...permissions], protected: [...globs], modes });
}

/**
 * The spec of a sub-agent: a copy of the spec of the run above with another goal, and with fewer rights when the sub-agent is of a kind.
 * Nothing is published automatically.
 */
export function specOfAgent(
  above: contract.RunSpec,
  { goal, kind }: contract.AgentSpec,
  title: string,
): contract.RunSpec {
  const spec: contract.RunSpec = {
    ...above,
    title,
    goal,
    // A sub-agent cannot ask a person to approve a plan: begun in plan mode, the sub-agent is read-only to its end.
    modes: { ...above.modes, plan: undefined, read_only: contract.readsOnly(above.modes) },
    models: contract.allowedModels(above),
    agent: undefined,
    validators: [],
    publish: { include_ignored: false },
    labels: { ...above.labels },
  };
  if (kind === undefined) return spec;
  const { name, origin, file, tools = above.tools, limits = {} } = kind;
  return {
    ...narrowSpec(spec, kind),
    agent: { name, origin, file },
    tools: tools?.filter((tool) => above.tools?.includes(tool) !== false),
    limits: narrowLimits(above.limits, limits),
  };
}

/** The smaller of each limit named by either side. The budgets of the run above bind the sub-agent in addition to its own. */
function narrowLimits(above: contract.Limits, { command, ...asked }: contract.GivenLimits): contract.Limits {
  return {
    ...smaller(above, asked),
    command: above.command === undefined ? command : smaller(above.command, command ?? {}),
  };
}

function smaller<Bounds extends object>(bounds: Bounds, asked: Partial<Bounds>): Bounds {
  const all = { ...bounds } as Record<string, unknown>;
  for (const [name, value] of Object.entries(asked)) {
    const bound = all[name];
    if (typeof value === 'number') all[name] = typeof bound === 'number' ? Math.min(bound, value) : value;
  }
  return all as Bounds;
}
