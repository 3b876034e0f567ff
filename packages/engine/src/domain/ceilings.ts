import { type GivenLimits, type Limits, limitsSchema } from '@holdpoint/contract';

/** The operator's upper bounds, by the names of a run's limits. A limit without a ceiling is not bounded. */
export type Ceilings = GivenLimits;

/** The setting with the ceilings. */
export const ceilingsSetting = 'HOLDPOINT_LIMITS';

/** A limit above its ceiling. */
export interface AboveCeiling {
  /** Path in the limits. */
  path: string[];
  value: number;
  ceiling: number;
  setting: string;
}

/** The requested limits above their ceilings. */
export function aboveCeilings(given: GivenLimits, ceilings: Ceilings): AboveCeiling[] {
  const { command: ofCommand = {}, ...ofRun } = given;
  const { command: mostOfCommand = {}, ...mostOfRun } = ceilings;
  return [...compare(ofRun, mostOfRun, []), ...compare(ofCommand, mostOfCommand, ['command'])];
}

function compare(given: Numbers, most: Numbers, at: string[]): AboveCeiling[] {
  return Object.entries(most).flatMap(([name, ceiling]) => {
    const value = given[name];
    if (ceiling === undefined || value === undefined || value <= ceiling) return [];
    return [{ path: [...at, name], value, ceiling, setting: ceilingsSetting }];
  });
}

/**
 * The limits of a run with defaults filled in: none is above its ceiling, and each ceiling has a limit. An absent limit of commands stays
 * absent: the worker then uses its own limit, which respects the ceilings.
 */
export function cutAtCeilings(
  limits: Limits | GivenLimits,
  { command: mostOfCommand = {}, ...most }: Ceilings,
): Limits {
  const whole = limitsSchema.parse(limits);
  const cut = { ...whole, ...cutEach(whole, most, Object.keys(most)) };
  if (whole.command === undefined) return cut;
  const given = Object.keys(whole.command);
  return { ...cut, command: { ...whole.command, ...cutEach(whole.command, mostOfCommand, given) } };
}

type Numbers = Readonly<Record<string, unknown>> & Readonly<Record<string, number | undefined>>;

function cutEach<Most extends object>(limits: object, most: Most, names: readonly string[]): Most {
  const entries = names.flatMap((name) => {
    const ceiling = (most as Numbers)[name];
    return ceiling === undefined ? [] : [[name, Math.min((limits as Numbers)[name] ?? ceiling, ceiling)]];
  });
  return Object.fromEntries(entries) as Most;
}
