import { constants } from 'node:os';

/** The signal for an exit code of 128 + its number, as reported by shells and bubblewrap. Null for any other exit code. */
export function signalOfExitCode(exitCode: number): string | null {
  const entry = Object.entries(constants.signals).find(([, number]) => exitCode === 128 + number);
  return entry ? entry[0] : null;
}
