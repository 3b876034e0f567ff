import type { FileFacts } from '../facts.ts';

/** Characters of packed facts whose unpacked form is kept; the unpacked form takes about ten times as many bytes. */
const maxWeight = 6 * 1024 * 1024;

/** The facts used last. */
export class FactsCache {
  readonly #kept = new Map<number, { facts: FileFacts; weight: number }>();
  #weight = 0;

  get(id: number, read: () => { facts: FileFacts; weight: number }): FileFacts {
    const known = this.#kept.get(id);
    this.#kept.delete(id);
    const entry = known ?? read();
    this.#kept.set(id, entry);
    if (known === undefined) this.#weight += entry.weight;
    for (const [oldest, { weight }] of this.#kept) {
      if (this.#weight <= maxWeight || oldest === id) break;
      this.#kept.delete(oldest);
      this.#weight -= weight;
    }
    return entry.facts;
  }

  clear(): void {
    this.#kept.clear();
    this.#weight = 0;
  }
}
