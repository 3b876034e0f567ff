import { z } from 'zod';
import { type GivenLimits, givenLimitsSchema, type Limits, limitsSchema } from './run-spec.ts';

/** What the operator lets no run pass, by the names of a run's limits. A limit without a ceiling is as the run says. */
export type Ceilings = GivenLimits;

const setting = 'HOLDPOINT_LIMITS';

/** JSON of `HOLDPOINT_LIMITS`: as the `limits` of a run. */
const ceilingsSchema = z
  .string()
  .optional()
  .transform((text, context): unknown => {
    if (text === undefined || text === '') return {};
    try {
      return JSON.parse(text);
    } catch {
      context.addIssue({ code: 'custom', message: 'it is no JSON' });
      return z.NEVER;
    }
  })
  .pipe(givenLimitsSchema);

/** Reads an environment. @throws an error naming the variable, and what of it is wrong */
export function ceilingsFrom(env: Readonly<Record<string, string | undefined>>): Ceilings {
  const parsed = ceilingsSchema.safeParse(env[setting]);
  if (parsed.success) return parsed.data;
  throw new Error(
    parsed.error.issues.map(({ path, message }) => `${[setting, ...path].join('.')}: ${message}`).join('; '),
  );
}

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
    return [{ path: [...at, name], value, ceiling, setting }];
  });
}

/** The limits of a run, defaults filled in: none is above its ceiling, and none that has a ceiling is missing. */
export function cutAtCeilings(limits: Limits | GivenLimits, ceilings: Ceilings): Limits {
  const { command, ...most } = ceilings;
  const cut = { ...limitsSchema.parse(limits), ...cutEach(limitsSchema.parse(limits), most) };
  return command === undefined ? cut : { ...cut, command: { ...cut.command, ...cutEach(cut.command ?? {}, command) } };
}

type Numbers = Readonly<Record<string, unknown>> & Readonly<Record<string, number | undefined>>;

function cutEach<Most extends object>(limits: object, most: Most): Most {
  const values = limits as Numbers;
  const entries = Object.entries(most as Numbers).flatMap(([name, ceiling]) =>
    ceiling === undefined ? [] : [[name, Math.min(values[name] ?? Number.POSITIVE_INFINITY, ceiling)]],
  );
  return Object.fromEntries(entries) as Most;
}
