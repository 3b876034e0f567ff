import type { CommandClass } from '@holdpoint/contract';

export type { CommandClass };

/** The class and the reason of the riskiest part. */
export interface CommandVerdict {
  class: CommandClass;
  reason: string;
}
