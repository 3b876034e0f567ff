import { InvalidArgumentError } from 'commander';

/** How much history: a number of commits, `full` or `none`. */
export function commits(text: string): number | 'full' | 'none' {
  if (text === 'full' || text === 'none') return text;
  const count = Number(text);
  if (/^\d+$/.test(text) && count >= 1 && count <= 1_000_000) return count;
  throw new InvalidArgumentError('Give a number of commits from 1, full or none.');
}
