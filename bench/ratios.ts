/** Times of alternating rounds, reported as median, 10th and 90th percentile, and as ratios to a floor of the same run. */
export class Ratios {
  readonly #times = new Map<string, number[]>();

  async time<T>(name: string, act: () => Promise<T> | T): Promise<T> {
    const started = performance.now();
    const done = await act();
    const times = this.#times.get(name) ?? [];
    times.push(performance.now() - started);
    this.#times.set(name, times);
    return done;
  }

  report(name: string, target: { floor?: string; ratio?: number; atMostMs?: number; what?: string } = {}): void {
    const [p50, p10, p90] = [0.5, 0.1, 0.9].map((share) => this.#at(name, share));
    const parts = [`${name.padEnd(40)} p50 ${ms(p50)}  p10 ${ms(p10)}  p90 ${ms(p90)}`];
    if (target.floor !== undefined) {
      const floor = this.#at(target.floor, 0.5);
      const ratio = (p50 ?? Number.NaN) / floor;
      parts.push(`${ratio.toFixed(2)} × ${target.floor} (${ms(floor)})`);
      if (target.ratio !== undefined) parts.push(judged(`${target.ratio} ×`, ratio <= target.ratio));
    }
    if (target.atMostMs !== undefined) parts.push(judged(`${target.atMostMs} ms`, (p50 ?? 0) <= target.atMostMs));
    process.stdout.write(`${parts.join('  ')}\n`);
  }

  #at(name: string, share: number): number {
    const times = (this.#times.get(name) ?? []).toSorted((a, b) => a - b);
    return times[Math.floor(times.length * share)] ?? Number.NaN;
  }
}

const ms = (value: number | undefined): string => `${(value ?? Number.NaN).toFixed(0)} ms`;
export const judged = (limit: string, met: boolean): string => `(target: at most ${limit})${met ? '' : ' MISSED'}`;
