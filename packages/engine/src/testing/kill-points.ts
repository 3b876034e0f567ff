const isWhole = process.env.HOLDPOINT_CRASH === 'full';
const today = Number(process.env.HOLDPOINT_DAY ?? Math.floor(Date.now() / 86_400_000));

/**
 * The commands at which a test lets a process die: in `npm run test:crash` all that the test names, elsewhere a fifth of them, on
 * each day another fifth.
 */
export function killPoints({ every = 1 } = {}): { from: number; every: number } {
  return isWhole ? { from: 1, every } : { from: 1 + every * (today % 5), every: every * 5 };
}

/** How many random cases a test tries: all in `npm run test:crash`, elsewhere a fifth of them, others each time. */
export const someOf = (cases: number): number => (isWhole ? cases : Math.ceil(cases / 5));
