import type { Tool } from '../tool.ts';
import type { OfferedRun, Toolset } from '../toolset.ts';

/** The tools of a toolset that a run is offered. */
export function offeredOf(
  toolset: Toolset,
  run: { unattended?: boolean; network?: boolean } & Partial<OfferedRun> = {},
): Tool[] {
  const { model, settings, unattended = false, network = true, plans = false, remembers = false } = run;
  const withheld = model === undefined ? [] : (toolset.withholds?.({ settings, model, plans, remembers }) ?? []);
  return toolset.tools
    .filter(({ gate, needsNetwork = false }) => (gate === undefined || !unattended) && (network || !needsNetwork))
    .filter(({ name }) => !withheld.includes(name));
}
