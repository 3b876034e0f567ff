/** How risky a command is. `safe` only reads, `blocked` is catastrophic, `caution` is everything else. */
export const commandClasses = ['safe', 'caution', 'blocked'] as const;

export type CommandClass = (typeof commandClasses)[number];

/** The class and the reason of the riskiest part. */
export interface CommandVerdict {
  class: CommandClass;
  reason: string;
}
