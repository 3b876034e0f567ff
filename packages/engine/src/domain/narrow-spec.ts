import type { RunSpec } from '@holdpoint/contract';
import { type AskedGrants, narrowWritten, openHosts } from '@holdpoint/policy';

/** The spec with the hosts that its permissions and modes leave open: everything that asks for the network of a run reads it there. */
export const withOpenHosts = (spec: RunSpec): RunSpec => ({
  ...spec,
  network: { ...spec.network, allow: openHosts(spec, spec.network.allow) },
});

/** A fork or a sub-agent has at most the permissions and modes of its parent. What it asks for beyond them is left out. */
export function narrowSpec(parent: RunSpec, asked: AskedGrants): RunSpec {
  const { permissions, protected: globs, modes } = narrowWritten(parent, asked);
  return withOpenHosts({ ...parent, permissions: permissions && [...permissions], protected: [...globs], modes });
}
