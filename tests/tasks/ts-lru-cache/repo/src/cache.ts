import { type CacheOptions, checked } from './options.ts';

interface Entry<Value> {
  value: Value;
  until: number;
}

export class Cache<Key, Value> {
  #entries = new Map<Key, Entry<Value>>();
  #options: ReturnType<typeof checked>;

  constructor(options: CacheOptions) {
    this.#options = checked(options);
  }

  get(key: Key): Value | undefined {
    const value = this.peek(key);
    if (value) this.#touch(key);
    return value;
  }

  peek(key: Key): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined || this.#isOver(entry)) return undefined;
    return entry.value;
  }

  has(key: Key): boolean {
    return this.get(key) !== undefined;
  }

  set(key: Key, value: Value): this {
    const { max, ttl, clock, onEvict } = this.#options;
    if (this.#entries.size >= max) {
      const [oldest] = this.#entries.keys();
      this.#entries.delete(oldest as Key);
      onEvict(oldest);
    }
    this.#entries.set(key, { value, until: clock() + ttl });
    return this;
  }

  delete(key: Key): boolean {
    return this.#entries.delete(key);
  }

  get size(): number {
    return this.#entries.size;
  }

  #touch(key: Key): void {
    const entry = this.#entries.get(key) as Entry<Value>;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
  }

  #isOver({ until }: Entry<Value>): boolean {
    return this.#options.clock() >= until;
  }
}
