import type { ProcessLimits } from '@holdpoint/contract';
import { SandboxError } from './errors.ts';

const mib = 1024 * 1024;

const defaults: ProcessLimits = {
  wall_ms: 120_000,
  cpu_seconds: 120,
  cpu_total_seconds: 3600,
  cpu_percent: 400,
  processes: 512,
  file_bytes: 1024 * mib,
  open_files: 1024,
  output_bytes: 10 * mib,
  memory_bytes: 4096 * mib,
  workspace_bytes: 4096 * mib,
};

/** Longest delay of a timer. A timer with a longer delay would fire at once. */
const maxWallMs = 2 ** 31 - 1;

/** Merges the layers over the defaults; later layers win. Throws `SandboxError` ECOMMANDINVALID for any value except a positive integer. */
export function resolveLimits(...layers: readonly (Partial<ProcessLimits> | undefined)[]): ProcessLimits {
  const limits = { ...defaults };
  for (const layer of layers) {
    for (const name of Object.keys(defaults) as (keyof ProcessLimits)[]) {
      const value = layer?.[name];
      if (value !== undefined) limits[name] = value;
    }
  }
  for (const [name, value] of Object.entries(limits)) {
    if (!Number.isSafeInteger(value) || value < 1 || (name === 'wall_ms' && value > maxWallMs)) {
      throw new SandboxError('ECOMMANDINVALID', `The limit ${name} is ${value}; it must be a positive integer.`, {
        retryable: false,
        next: `Correct limits.${name}.`,
      });
    }
  }
  return limits;
}
