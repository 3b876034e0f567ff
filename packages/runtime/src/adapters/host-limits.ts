import type { ProcessLimits } from '@holdpoint/contract';
import type { Ceilings } from '@holdpoint/engine';
import { resolveLimits } from '@holdpoint/sandbox';

/** What a command may use whose run names no limit: the sandbox's own, and no more than the operator allows. */
export function hostLimits({ command = {} }: Pick<Ceilings, 'command'>): Partial<ProcessLimits> {
  const own = resolveLimits();
  const names = Object.keys(command) as (keyof typeof command)[];
  return Object.fromEntries(names.map((name) => [name, Math.min(own[name], command[name] ?? own[name])]));
}
