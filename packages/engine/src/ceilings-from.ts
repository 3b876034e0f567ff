import { availableParallelism, totalmem } from 'node:os';
import { givenLimitsSchema } from '@holdpoint/contract';
import { z } from 'zod';
import { type Ceilings, ceilingsSetting } from './domain/ceilings.ts';

/** JSON, in the form of a run's `limits`. */
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

/** The number of steps that a worker runs at once when the operator sets no number. */
export const defaultWorkerSteps = (): number => Math.max(4, availableParallelism() * 2);

const mib = 1024 * 1024;
/** Compilers and package managers need this much on any machine. */
const leastMemory = 1024 * mib;
/** The rest is for the system, Redis and the workers. */
const shareOfCommands = 0.75;

/**
 * The memory of one command. A command above its share of a full worker would stall its neighbours.
 * @param machine bytes of memory. @param steps that a worker runs at once
 */
export const memoryCeiling = (machine: number, steps: number): number =>
  Math.min(machine, Math.max(leastMemory, Math.floor((machine * shareOfCommands) / steps / mib) * mib));

/** Inside a container the container's memory limit counts. */
const memoryOfMachine = (): number => Math.min(totalmem(), process.constrainedMemory() || totalmem());

type Env = Readonly<Record<string, string | undefined>>;

/**
 * Reads the operator's ceilings from an environment. The default for the memory of a command is the machine's memory, shared by the steps
 * of a worker.
 * @throws an error with the name and the problem of the variable
 */
export function ceilingsFrom(env: Env): Ceilings {
  const parsed = ceilingsSchema.safeParse(env[ceilingsSetting]);
  const steps = Number.parseInt(env.HOLDPOINT_WORKER_STEPS ?? '', 10) || defaultWorkerSteps();
  const memory_bytes = memoryCeiling(memoryOfMachine(), steps);
  if (parsed.success) return { ...parsed.data, command: { memory_bytes, ...parsed.data.command } };
  const wrong = parsed.error.issues.map(({ path, message }) => `${[ceilingsSetting, ...path].join('.')}: ${message}`);
  throw new Error(wrong.join('; '));
}
