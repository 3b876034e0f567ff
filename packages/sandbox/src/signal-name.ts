import { constants } from 'node:os';

/** The signal that shells and bubblewrap report as 128 + its number. Null for any other exit code. */
export function signalOfExitCode(exitCode: number): string | null {
  const entry = Object.entries(constants.signals).find(([, number]) => exitCode === 128 + number);
  return entry ? entry[0] : null;
}
