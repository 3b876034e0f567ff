import { SandboxError } from './errors.ts';
import type { Limits } from './port.ts';

const MIB = 1024 * 1024;

const defaults: Limits = {
  wall_ms: 120_000,
  cpu_seconds: 120,
  cpu_total_seconds: 3600,
  cpu_percent: 400,
  processes: 512,
  file_bytes: 1024 * MIB,
  open_files: 1024,
  output_bytes: 10 * MIB,
  memory_bytes: 4096 * MIB,
  workspace_bytes: 4096 * MIB,
};

/** The longest delay that a timer takes; a longer one would fire at once. */
const MAX_WALL_MS = 2 ** 31 - 1;

/** Defaults, then the host's, then the command's. Throws `SandboxError` ECOMMANDINVALID on a value that is not a positive integer. */
export function resolveLimits(...layers: readonly (Partial<Limits> | undefined)[]): Limits {
  const limits = { ...defaults };
  for (const layer of layers) {
    for (const name of Object.keys(defaults) as (keyof Limits)[]) {
      const value = layer?.[name];
      if (value !== undefined) limits[name] = value;
    }
  }
  for (const [name, value] of Object.entries(limits)) {
    if (!Number.isSafeInteger(value) || value < 1 || (name === 'wall_ms' && value > MAX_WALL_MS)) {
      throw new SandboxError('ECOMMANDINVALID', `The limit ${name} is ${value}; it must be a positive integer.`, {
        retryable: false,
        next: `Correct limits.${name}.`,
      });
    }
  }
  return limits;
}
