import type { ModelAnswer, ModelTool, ProviderAddress } from '@holdpoint/models';
import { egressPort } from '@holdpoint/sandbox';
import { AgentError, type Asked } from './drivers/driver.ts';
import { driverOf } from './drivers/drivers.ts';
import { Launcher, type RunInside } from './launcher.ts';
import { ModelWay } from './model-way/model-way.ts';
import { foldSession, nextState, type SessionChange } from './session/session.ts';
import { type AskedCall, type CallText, toResult } from './tools-server.ts';

export interface Beginning extends Pick<Asked, 'system' | 'prompt' | 'retold'> {
  /** `claude-code`, …, `acp:COMMAND`. */
  agent: string;
  session: SavedSession | undefined;
  address: ProviderAddress;
  tools: readonly ModelTool[];
  /** The Node of the sandbox. */
  node: string;
  version: string;
}

/** The session of an agent as the log has it. */
export interface SavedSession {
  id: string;
  /** All changes, in order. */
  changes: readonly SessionChange[];
  /** Names this state. */
  state: string;
}

interface PlannedCall {
  id: string;
  tool: string;
  args: Record<string, unknown>;
}

/** The agent's calls or answer, with its session at that moment. */
export interface AgentTurn {
  /** The agent's words since its turn before. */
  text: string;
  /** None: the text is its answer. */
  calls: PlannedCall[];
  usage: ModelAnswer['usage'];
  session: {
    /** Empty: there is none to load. */
    id: string;
    /** Undefined: it was lost. */
    change: SessionChange | undefined;
    state: string;
    /** The session began with this change. */
    isFirst: boolean;
  };
}

interface AskedTurn extends Pick<ModelWay, 'whyOver'> {
  signal: AbortSignal;
  onText(text: string): void;
}

type Outcome = { kind: 'answered' } | { kind: 'failed'; error: AgentError };

/** Calls within so many milliseconds of each other are one turn. A later call of the same answer is the next turn. */
const togetherMs = 2;
const mostCalls = 64;
/** Without a bound, calls in a flood would fill the worker's memory. */
const mostWaiting = { calls: 1000, bytes: 16 * 1024 * 1024 };
const silentMs = 20 * 60_000;
const silenceLookMs = 10_000;
const mostText = 1024 * 1024;

/** A running agent of a run. Its calls wait until the worker answers them. */
export class AgentProcess {
  /** The state of its session that the log has, once its turn is recorded. */
  state: string;
  /** The time of its last turn or answer, in milliseconds of `performance.now`. */
  lastAt = performance.now();
  readonly ended: Promise<void>;
  readonly #launcher: Launcher;
  readonly #way: ModelWay;
  readonly #open = new Map<string, AskedCall>();
  #session: string | undefined;
  #text = '';
  #asked: (AskedCall & { id: string })[] = [];
  #askedBytes = 0;
  #outcome: Outcome | undefined;
  #calls = 0;
  #isLost = false;
  #isFirst: boolean;
  #onText: (text: string) => void = () => {};
  #changed = () => {};

  constructor(runInside: RunInside, begin: Beginning, fetch: typeof globalThis.fetch) {
    const { session, address, tools, node, version } = begin;
    this.#session = session?.id;
    this.#isFirst = session === undefined;
    this.state = session?.state ?? '';
    this.#way = new ModelWay({ address, fetch });
    this.#launcher = new Launcher(
      {
        ...{ runInside, node, tools, version, egress: this.#way },
        onCall: (call) => this.#ask(call),
        onTooMany: (what) => this.#fail(`It has more than ${what}.`),
      },
      (launcher) => this.#begin(launcher, begin),
    );
    this.ended = this.#launcher.ended.then((why) => this.#fail(why));
  }

  /** The agent made a call or asked its model. */
  get hasActed(): boolean {
    return this.#calls > 0 || this.#way.hasPassed;
  }

  /** The agent lives, and its calls have no answers yet. */
  get isWaiting(): boolean {
    return this.#outcome === undefined && this.#open.size > 0 && !this.#launcher.stopped.aborted;
  }

  /** Answers the calls of its last turn. */
  answer(results: readonly (CallText & { id: string })[]): void {
    this.lastAt = performance.now();
    for (const { id, ...result } of results) this.#open.get(id)?.answer(toResult(result));
    this.#open.clear();
  }

  /**
   * Waits for its next calls or its answer. Aborting ends the agent.
   * @param onText called with its words as they come
   * @param whyOver the reason when it may ask its model no more, by the tokens of this turn; undefined while it may
   * @throws AgentError
   */
  async next({ signal, onText, whyOver }: AskedTurn): Promise<AgentTurn> {
    signal.throwIfAborted();
    const stop = () => this.#launcher.kill();
    signal.addEventListener('abort', stop, { once: true });
    this.#onText = onText;
    this.#way.open(whyOver);
    const timer = setInterval(() => this.#checkSilence(), silenceLookMs);
    try {
      await this.#until(() => this.#asked.length > 0 || this.#outcome !== undefined);
      signal.throwIfAborted();
      if (this.#outcome?.kind === 'failed') throw this.#explained(this.#outcome.error);
      const hasCalls = this.#asked.length > 0;
      const [session] = await Promise.all([this.#save(), hasCalls && this.#allTogether()]);
      signal.throwIfAborted();
      const asked = this.#asked.splice(0, mostCalls);
      for (const call of asked) this.#open.set(call.id, call);
      if (this.#asked.length === 0) this.#askedBytes = 0;
      const text = this.#text;
      this.#text = '';
      this.lastAt = performance.now();
      return { text, calls: asked.map(({ id, tool, args }) => ({ id, tool, args })), usage: this.takeUsed(), session };
    } finally {
      this.#way.close();
      clearInterval(timer);
      signal.removeEventListener('abort', stop);
    }
  }

  /** The tokens since the last turn. */
  takeUsed(): ModelAnswer['usage'] {
    return this.#way.takeUsed();
  }

  end(): Promise<void> {
    this.#launcher.kill();
    return this.ended;
  }

  /** Starts the agent and speaks with it. @throws SessionError */
  #begin(launcher: Launcher, { agent, session, system, prompt, retold, address, tools }: Beginning): void {
    const driver = driverOf(agent);
    const asked = {
      ...{ modelUrl: `http://127.0.0.1:${egressPort}`, address, system, prompt, retold },
      ...{ session: session?.id, tools: tools.map(({ name }) => name) },
    };
    launcher.start(driver.start(asked), foldSession(session?.changes ?? []));
    const lines = {
      send: (line: string) => launcher.send(line),
      endInput: () => launcher.endInput(),
      receive: () => launcher.receive(),
      onText: (text: string) => this.#say(text),
      onSession: (id: string) => {
        this.#session = id;
      },
    };
    driver.talk(lines, asked).then(
      () => this.#settle({ kind: 'answered' }),
      (error: unknown) => this.#fail(error instanceof Error ? error.message : String(error)),
    );
  }

  #say(text: string): void {
    if (this.#text.length >= mostText) return;
    this.#text += text;
    this.#onText(text);
  }

  #ask(call: AskedCall): void {
    this.#calls += 1;
    this.#askedBytes += JSON.stringify(call.args).length;
    if (this.#asked.length >= mostWaiting.calls || this.#askedBytes > mostWaiting.bytes) {
      this.#asked = [];
      this.#fail('It made more calls at once than a turn can have.');
      return;
    }
    this.#asked.push({ ...call, id: `call_${this.state.slice(0, 12)}_${this.#calls}` });
    this.#changed();
  }

  /** More calls of the same answer follow at once. */
  async #allTogether(): Promise<void> {
    for (let seen = 0; seen < this.#asked.length && this.#asked.length < mostCalls; ) {
      seen = this.#asked.length;
      await new Promise((resolve) => setTimeout(resolve, togetherMs));
    }
  }

  /** A session that could not be read once is lost for this process: the next start retells the run. The work itself continues. */
  async #save(): Promise<AgentTurn['session']> {
    const saved = this.#isLost ? undefined : await this.#launcher.save();
    const isFirst = this.#isFirst;
    this.#isFirst = false;
    this.#isLost = saved === undefined;
    this.state = nextState(this.state, saved?.change ?? { data: `lost after call ${this.#calls}` });
    // Some agents write their session a moment after their first call.
    const id = saved?.hasFiles === true ? (this.#session ?? '') : '';
    return { id, change: saved?.change, state: this.state, isFirst };
  }

  #settle(outcome: Outcome): void {
    this.#outcome ??= outcome;
    this.#changed();
  }

  /** A failed agent gets no more turns, so its processes end at once. */
  #fail(message: string): void {
    this.#launcher.kill();
    this.#settle({ kind: 'failed', error: new AgentError(message) });
  }

  /** The error with the last words of the provider and of the agent. */
  #explained({ message }: AgentError): AgentError {
    const { refusal } = this.#way;
    const { code, why, words } = this.#launcher.end ?? { code: undefined, why: '', words: '' };
    if (why === 'ENOENT') return new AgentError('ENOENT');
    const end = code === undefined ? '' : ` It ended with ${code ?? why}.`;
    const said = words.trim() === '' ? '' : ` Its last words: ${words.trim().slice(-1000)}`;
    const model = refusal === undefined ? '' : ` Its model was refused: ${refusal}`;
    return new AgentError(`${message}${end}${model}${said}`.slice(0, 3000), this.#way.failure);
  }

  /** An agent that neither asks its model nor makes a call would hold the turn for ever. */
  #checkSilence(): void {
    if (this.#way.isAsked || performance.now() - this.#way.lastAt < silentMs) return;
    this.#fail(`It neither asked its model nor made a call for ${silentMs / 60_000} minutes.`);
  }

  async #until(isReady: () => boolean): Promise<void> {
    while (!isReady()) {
      await new Promise<void>((resolve) => {
        this.#changed = resolve;
      });
    }
  }
}
