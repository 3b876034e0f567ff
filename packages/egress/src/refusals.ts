import type { EgressError } from './errors.ts';

/** A program can ask for thousands of hosts. */
const mostNotes = 5;

/** Refused or failed connections of a command. Most programs show only the proxy's status 403. */
export class Refusals {
  readonly #notes = new Map<string, string>();
  #more = 0;

  add({ host, port }: { host: string; port: number }, { code, message, next, retryable }: EgressError): void {
    const key = JSON.stringify([host, port, code]);
    if (this.#notes.has(key)) return;
    if (this.#notes.size === mostNotes) {
      this.#more += 1;
      return;
    }
    const what = retryable ? 'could not reach' : 'refused';
    this.#notes.set(key, `${what} ${host}:${port}: ${message} ${next}`);
  }

  lines(): string[] {
    const more = this.#more === 0 ? [] : [`refused ${this.#more} more connections`];
    return [...this.#notes.values(), ...more];
  }
}
