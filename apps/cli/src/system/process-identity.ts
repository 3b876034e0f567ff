import { bootId, identify as identifyInBoot } from '@holdpoint/process';

/** One process, also after a reboot of the machine. */
export interface ProcessIdentity {
  pid: number;
  /** The boot and the start time in it: only for comparison. */
  began: string;
}

export function identify(pid: number): ProcessIdentity | undefined {
  const found = identifyInBoot(pid);
  return found ? { pid, began: `${bootId()}/${found.start}` } : undefined;
}

export function isAlive({ pid, began }: ProcessIdentity): boolean {
  return identify(pid)?.began === began;
}
