import type { Config } from '../config.ts';
import type { Finding } from './finding.ts';

/** Whether workspaces of ended runs go by themselves. Workers read the same variables when they start. */
export function checkRetention({ retention: { days, runs } }: Pick<Config, 'retention'>): Finding {
  const bounds = [
    ...(days === undefined ? [] : [`${days} days after the run has ended (HOLDPOINT_RETAIN_DAYS)`]),
    ...(runs === undefined ? [] : [`when ${runs} later runs have ended (HOLDPOINT_RETAIN_RUNS)`]),
  ];
  const text =
    bounds.length === 0
      ? 'off: workspaces stay until their run is discarded (HOLDPOINT_RETAIN_DAYS, HOLDPOINT_RETAIN_RUNS)'
      : `workspaces go ${bounds.join(', or ')}, unless their change set may still be published`;
  return { name: 'retention', level: 'ok', text };
}
