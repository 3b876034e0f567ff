/** The value at a share of the sorted values, interpolated between the two neighbours. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  const at = (sorted.length - 1) * share;
  const [low = Number.NaN, high = low] = sorted.slice(Math.floor(at), Math.floor(at) + 2);
  return low + (high - low) * (at % 1);
}

export const median = (values: readonly number[]): number => quantile(values, 0.5);

export const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

/** `12.30 (11.90–13.10)`: the median, and the limits of the middle 80 %. */
export function spread(values: readonly number[], digits = 2): string {
  const [low, middle, high] = [0.1, 0.5, 0.9].map((share) => quantile(values, share).toFixed(digits));
  return `${middle} (${low}–${high})`;
}

/** `1.54 (1.50–1.60); target at most 1.1: MISSED`. The median decides. */
export function judged(ratios: readonly number[], bound: { atMost: number } | { atLeast: number }): string {
  const found = median(ratios);
  const [holds, target] =
    'atMost' in bound
      ? [found <= bound.atMost, `at most ${bound.atMost}`]
      : [found >= bound.atLeast, `at least ${bound.atLeast}`];
  return `${spread(ratios)}; target ${target}: ${holds ? 'met' : 'MISSED'}`;
}

export const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** Whether another round may begin: there are rounds left, and the first ones did not use up the seconds. */
export function openRounds({ rounds, seconds }: { rounds: number; seconds: number }): (done: number) => boolean {
  const from = performance.now();
  return (done) => done < rounds && (done < 1 || performance.now() - from < seconds * 1000);
}
