import { type GivenLimits, type Limits, limitsSchema } from '@holdpoint/contract';

/** What the operator lets no run pass, by the names of a run's limits. A limit without a ceiling is as the run says. */
export type Ceilings = GivenLimits;

/** Where the operator says so. */
export const ceilingsSetting = 'HOLDPOINT_LIMITS';

/** A limit that is above what the operator allows. */
export interface AboveCeiling {
  /** In the limits. */
  path: string[];
  value: number;
  ceiling: number;
  setting: string;
}

/** The limits that a submitter asked for and may not have. */
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
 * The limits of a run, defaults filled in: none is above its ceiling, and none that has a ceiling is missing. A limit of commands that is
 * left out is the worker's own, which knows the ceilings, too.
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
