import { isDeepStrictEqual } from 'node:util';
import type { CallAgain } from './native/hook-gate.ts';
import type { AskedCall, CallText } from './tools-server.ts';

/** A call of the log that has ended. */
export interface EndedCall extends CallAgain {
  result: CallText;
}

type NamedCall = AskedCall & { id: string };

interface AskedCallsOptions {
  /** Ended calls whose results the loaded session lacks. The agent's prompt has them. */
  untold: readonly EndedCall[];
  /** The open call that a started agent makes again. */
  again: CallAgain | undefined;
  onTooMany(): void;
  /** Called with each call of the next turn. */
  onCall(): void;
}

/** Calls within so many milliseconds of each other are one turn. A later call of the same answer is the next turn. */
export const togetherMs = 2;
const mostCalls = 64;
/** Without a bound, calls in a flood would fill the worker's memory. */
const mostWaiting = { calls: 1000, bytes: 16 * 1024 * 1024 };

/** The calls that an agent waits for: those of its next turn, and those that the log has already. */
export class AskedCalls {
  readonly #options: AskedCallsOptions;
  readonly #open = new Map<string, NamedCall>();
  #next: NamedCall[] = [];
  #bytes = 0;
  #count = 0;
  #untold: readonly EndedCall[];
  #names: Record<string, string> = {};

  constructor(options: AskedCallsOptions) {
    this.#options = options;
    this.#untold = options.untold;
  }

  /** The number of calls so far. */
  get count(): number {
    return this.#count;
  }

  /** The calls of the next turn. */
  get next(): readonly NamedCall[] {
    return this.#next;
  }

  get hasOpen(): boolean {
    return this.#open.size > 0;
  }

  open(id: string): AskedCall | undefined {
    return this.#open.get(id);
  }

  /** @param state names the session before this turn */
  add(call: AskedCall, state: string): void {
    this.#count += 1;
    // A call that is made again keeps its id of the log.
    const again = this.#open.size === 0 && this.#count === 1 ? this.#options.again?.id : undefined;
    if (again === undefined && this.#wasToldAgain(call)) return;
    this.#bytes += JSON.stringify(call.args).length;
    if (this.#next.length >= mostWaiting.calls || this.#bytes > mostWaiting.bytes) {
      this.#next = [];
      this.#options.onTooMany();
      return;
    }
    const id = this.#freeId(again ?? call.own?.id ?? `call_${state.slice(0, 12)}_${this.#count}`);
    this.#name(call, id);
    this.#next.push({ ...call, id });
    this.#options.onCall();
  }

  /** More calls of the same answer follow at once. */
  async allTogether(): Promise<void> {
    for (let seen = 0; seen < this.#next.length && this.#next.length < mostCalls; ) {
      seen = this.#next.length;
      await new Promise((resolve) => setTimeout(resolve, togetherMs));
    }
  }

  /** The calls of a turn. They wait for `answer`. */
  take(): readonly NamedCall[] {
    const taken = this.#next.splice(0, mostCalls);
    for (const call of taken) this.#open.set(call.id, call);
    if (this.#next.length === 0) this.#bytes = 0;
    return taken;
  }

  /** The ids of the log by the agent's own ids, for the calls since the last turn. */
  takeNames(): Record<string, string> {
    const names = this.#names;
    this.#names = {};
    return names;
  }

  /** The words of people come with the last result. */
  answer(results: readonly (CallText & { id: string })[], words: readonly string[]): void {
    for (const [at, { id, ...result }] of results.entries())
      this.#open.get(id)?.answer(result, at === results.length - 1 ? words : []);
    this.#open.clear();
  }

  /**
   * A model whose session was behind the log may ask for an ended call once more. The recorded result answers the call. The first call that is
   * none of these ends the search: from there an equal call is meant as a new one.
   */
  #wasToldAgain(call: AskedCall): boolean {
    if (call.own?.error !== undefined) return false;
    const ended = this.#untold.find(({ tool, args }) => tool === call.tool && isDeepStrictEqual(args, call.args));
    this.#untold = ended === undefined ? [] : this.#untold.filter((one) => one !== ended);
    if (ended === undefined) return false;
    this.#name(call, ended.id);
    call.answer({ ...ended.result, text: `${madeBefore}\n${ended.result.text}` }, []);
    return true;
  }

  #name({ agentId = '', own }: AskedCall, id: string): void {
    const name = own?.id ?? agentId;
    if (name !== '' && name !== id) this.#names[name] = id;
  }

  /** A second call with the same id gets another id in the log. */
  #freeId(id: string): string {
    const isTaken = this.#open.has(id) || this.#next.some((call) => call.id === id);
    return isTaken ? `${id}.${this.#count}` : id;
  }
}

const madeBefore =
  'You made this call before you were interrupted, and it has ended. It was not made a second time. Make it once more only if it should run again. Its result:';
