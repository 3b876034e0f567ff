import { columnSeparator, settledColumns } from '../domain/fields/step.ts';

/** The state of a run as format 1 had it: a field for each fact of a settled step, and no index. */
export function asFormat1(state: Record<string, string>): Record<string, string> {
  const old: Record<string, string> = {};
  for (const [name, value] of Object.entries(state)) {
    if (/^(turn:|alive$|last_turn$)/.test(name)) continue;
    if (!/^step_[^:]+$/.test(name)) old[name] = value;
    else for (const [at, part] of value.split(columnSeparator).entries()) old[`${name}:${settledColumns[at]}`] ??= part;
  }
  return old;
}
