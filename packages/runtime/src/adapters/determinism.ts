import { createHash } from 'node:crypto';
import { type CommandResult, fixedTime, type ToolOutcome } from '@holdpoint/contract';

/** Clock, random numbers and environment for tools and commands of a deterministic run, in place of the machine's own. */
export interface FixedSurroundings {
  now(): number;
  random(): number;
  /** Variables in addition to the sandbox's own. */
  environment: Readonly<Record<string, string>>;
  /** The same program with a fixed umask. */
  argv(argv: readonly [string, ...string[]]): readonly [string, ...string[]];
  result(result: CommandResult): CommandResult;
  /** Converts a deadline from the machine's clock to the fixed clock, and back. */
  toFixed(deadline: number): number;
  fromFixed(outcome: ToolOutcome): ToolOutcome;
}

/** @param now the machine's clock: deadlines still pass */
export function fixSurroundings(seed: string, now: () => number): FixedSurroundings {
  const ahead = now() - fixedTime;
  return {
    now: () => fixedTime,
    random: randomFrom(seed),
    environment: fixedEnvironment,
    argv: (argv) => ['/bin/bash', '-c', 'umask 022; exec "$@"', 'bash', ...argv],
    result: ({ use: _, ...result }) => ({ ...result, duration_ms: 0 }),
    toFixed: (deadline) => deadline - ahead,
    fromFixed: (outcome) =>
      outcome.status === 'deferred' && 'until' in outcome ? { ...outcome, until: outcome.until + ahead } : outcome,
  };
}

const fixedEnvironment = {
  HOME: '/tmp',
  LANG: 'C.UTF-8',
  LC_ALL: 'C.UTF-8',
  TZ: 'UTC',
  SOURCE_DATE_EPOCH: String(fixedTime / 1000),
  PYTHONHASHSEED: '0',
};

/** Numbers of 48 bits out of the hashes of the seed and a counter. */
function randomFrom(seed: string): () => number {
  let drawn = 0;
  return () => {
    const digest = createHash('sha256').update(`${seed}\n${drawn++}`).digest();
    return digest.readUIntBE(0, 6) / 2 ** 48;
  };
}
