import { type CallDescription, hasNetwork, type Json, type RunSpec, readsOnly } from '@holdpoint/contract';
import type { EngineDeps } from '../deps.ts';
import type { RunState } from '../domain/index.ts';

type Known = Extract<CallDescription, { ok: true }>;

/** Describes a call under the settings and modes of its run. */
export function describeCall(
  { catalog }: Pick<EngineDeps, 'catalog'>,
  { toolset, settings, network, modes }: Pick<RunSpec, 'toolset' | 'settings' | 'network' | 'modes'>,
  { run: { parent }, ...call }: { run: Pick<RunState, 'parent'>; tool: string; args: Json },
): CallDescription {
  const described = catalog.describe({
    ...{ toolset, settings, ...call },
    ...{ network: hasNetwork(network), unattended: parent !== undefined },
  });
  if (!described.ok) return described;
  const known = readsOnly(modes) ? asReader(described) : described;
  // Reads that run at the same time settle in any order.
  return modes.deterministic ? { ...known, sequential: true } : known;
}

/** Commands of a read-only run, and in plan mode, see the workspace read-only. So a command without other effects counts as a read. */
function asReader(described: Known): Known {
  const { effect, touches } = described;
  const isCommand = touches?.command !== undefined || touches?.argv !== undefined;
  const writes = touches?.paths.some(({ access }) => access !== 'read');
  return isCommand && !writes && effect === 'workspace' ? { ...described, effect: 'read' } : described;
}
