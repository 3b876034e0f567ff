import { hasNetwork, type Json, type RunSpec } from '@holdpoint/contract';
import type { EngineDeps } from '../deps.ts';
import type { RunState } from '../domain/index.ts';
import type { Description } from '../ports/index.ts';

/** What a call would be in its run. */
export function describeCall(
  { catalog }: Pick<EngineDeps, 'catalog'>,
  { toolset, network, modes }: RunSpec,
  { run: { parent }, ...call }: { run: Pick<RunState, 'parent'>; tool: string; args: Json },
): Description {
  const described = catalog.describe({
    ...{ toolset, ...call },
    ...{ network: hasNetwork(network), unattended: parent !== undefined },
  });
  return described.ok && modes.read_only ? asReader(described) : described;
}

/** The sandbox shows a command of a read-only run the workspace read-only. So one that reaches nothing else only reads. */
function asReader(described: Extract<Description, { ok: true }>): Description {
  const { effect, touches } = described;
  const isCommand = touches?.command !== undefined || touches?.argv !== undefined;
  const writes = touches?.paths.some(({ access }) => access !== 'read');
  return isCommand && !writes && effect === 'workspace' ? { ...described, effect: 'read' } : described;
}
