import { bootId, identify as identifyInBoot } from '@holdpoint/process';

/** Identifies a process, also when its pid is used again later or after a reboot. */
export interface ProcessIdentity {
  pid: number;
  /** The boot id and the start time, only for comparison. */
  began: string;
}

export function identify(pid: number): ProcessIdentity | undefined {
  const found = identifyInBoot(pid);
  return found ? { pid, began: `${bootId()}/${found.start}` } : undefined;
}

export const isAlive = ({ pid, began }: ProcessIdentity): boolean => identify(pid)?.began === began;
