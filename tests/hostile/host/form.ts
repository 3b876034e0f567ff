/** `bounded` is part of `npm run test:faults`. `full` is the command `npm run test:hostile`. */
export const form: 'bounded' | 'full' = process.env.HOLDPOINT_HOSTILE === 'full' ? 'full' : 'bounded';

/** Cases of every test run, and the additional cases of the full form. */
export interface Cases<Case> {
  bounded: readonly Case[];
  full: readonly Case[];
}

export const allOf = <Case>({ bounded, full }: Cases<Case>): Case[] => [...bounded, ...full];
export const inForm = <Case>(cases: Cases<Case>): Case[] => (form === 'full' ? allOf(cases) : [...cases.bounded]);
