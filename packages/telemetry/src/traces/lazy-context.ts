import type { Context } from '@opentelemetry/api';

/** A context made at its first use. Most work has no span, and the ids of its place cost more than the rest of the context. */
export class LazyContext implements Context {
  readonly #make: () => Context;
  #made: Context | undefined;

  constructor(make: () => Context) {
    this.#make = make;
  }

  getValue(key: symbol): unknown {
    return this.#context().getValue(key);
  }

  setValue(key: symbol, value: unknown): Context {
    return this.#context().setValue(key, value);
  }

  deleteValue(key: symbol): Context {
    return this.#context().deleteValue(key);
  }

  #context(): Context {
    this.#made ??= this.#make();
    return this.#made;
  }
}
