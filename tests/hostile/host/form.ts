/** `bounded` is part of every test run and takes seconds. `full` is the command `npm run test:hostile`. */
export const form: 'bounded' | 'full' = process.env.HOLDPOINT_HOSTILE === 'full' ? 'full' : 'bounded';

/** The cases of this form: all, or those marked `bounded`. */
export function inForm<Case extends { bounded?: boolean }>(cases: readonly Case[]): Case[] {
  return cases.filter((one) => form === 'full' || one.bounded === true);
}
