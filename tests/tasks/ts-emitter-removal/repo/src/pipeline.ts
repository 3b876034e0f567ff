import { Emitter } from './emitter.ts';

/** Runs stages one after the other, and reports the end of each. */
export class Pipeline extends Emitter {
  #stages: { name: string; work: (value: unknown) => unknown }[] = [];

  stage(name: string, work: (value: unknown) => unknown): this {
    this.#stages.push({ name, work });
    return this;
  }

  run(input: unknown): unknown {
    let value = input;
    for (const { name, work } of this.#stages) {
      value = work(value);
      this.emit('stage', name, value);
    }
    this.emit('end', value);
    return value;
  }
}
