import { describeListener } from './describe.ts';

export type Listener = (...values: unknown[]) => void;

interface Entry {
  listener: Listener;
  once: boolean;
}

export class Emitter {
  #entries = new Map<string, Entry[]>();

  on(name: string, listener: Listener): () => void {
    return this.#add(name, { listener, once: false });
  }

  once(name: string, listener: Listener): () => void {
    return this.#add(name, { listener, once: true });
  }

  /** Removes the listener that was added last. */
  off(name: string, listener: Listener): void {
    const entries = this.#entries.get(name) ?? [];
    const at = entries.findLastIndex((entry) => entry.listener === listener);
    if (at >= 0) entries.splice(at, 1);
  }

  /** Calls the listeners in the order in which they were added. Returns how many there were. */
  emit(name: string, ...values: unknown[]): number {
    const entries = this.#entries.get(name) ?? [];
    let called = 0;
    for (const entry of entries) {
      entry.listener(...values);
      called += 1;
      if (entry.once) this.off(name, entry.listener);
    }
    return called;
  }

  listeners(name: string): string[] {
    return (this.#entries.get(name) ?? []).map(({ listener, once }) => describeListener(listener, once));
  }

  #add(name: string, entry: Entry): () => void {
    const entries = this.#entries.get(name);
    if (entries === undefined) this.#entries.set(name, [entry]);
    else entries.push(entry);
    return () => this.off(name, entry.listener);
  }
}
