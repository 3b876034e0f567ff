import type { Problem } from '@holdpoint/contract';
import type { ModelAnswer, ModelTool, ProviderAddress } from '@holdpoint/models';
import { egressPort } from '@holdpoint/sandbox';
import { AgentError, type Asked } from './drivers/driver.ts';
import { driverOf } from './drivers/drivers.ts';
import { Launcher, type RunInside } from './launcher.ts';
import { ModelWay } from './model-way/model-way.ts';
import { ToolUses } from './model-way/tool-uses.ts';
import { type CallAgain, HookGate } from './native/hook-gate.ts';
import { foldSession, nextState, type SessionChange } from './session/session.ts';
import type { AskedCall, CallText, Performed } from './tools-server.ts';

export interface Beginning extends Pick<Asked, 'system' | 'prompt' | 'retold'> {
  /** `claude-code`, …, `acp:COMMAND`. */
  agent: string;
  session: SavedSession | undefined;
  /** Set for an agent that keeps its own tools. */
  native?:
    | {
        /** Results of the calls of earlier turns, by the agent's ids. */
        ended: ReadonlyMap<string, CallText>;
        /** The open call, for the agent to make again. */
        again?: CallAgain | undefined;
      }
    | undefined;
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
  /** The agent ended with an open call. A start of the session asks for the same call. */
  isDeferred: boolean;
}

interface PlannedCall {
  id: string;
  tool: string;
  args: Record<string, unknown>;
  /** The call settles with this error. */
  error?: Problem | undefined;
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
    isDeferred: boolean;
  };
  /** The process has ended, or is of no more use. */
  isOver: boolean;
}

interface AskedTurn extends Pick<ModelWay, 'whyOver'> {
  signal: AbortSignal;
  onText(text: string): void;
  /** Whether a person will be asked about a call of the agent's own tools. */
  holds?(call: { tool: string; args: Record<string, unknown> }): boolean;
}

type Outcome = { kind: 'answered' } | { kind: 'failed'; error: AgentError };

/** Calls within so many milliseconds of each other are one turn. A later call of the same answer is the next turn. */
const togetherMs = 2;
const mostCalls = 64;
/** Without a bound, calls in a flood would fill the worker's memory. */
const mostWaiting = { calls: 1000, bytes: 16 * 1024 * 1024 };
const silentMs = 20 * 60_000;
/** For an agent to end after `defer`, and for its model to finish its answer. */
const deferMs = 10_000;
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
  readonly #uses: ToolUses | undefined;
  readonly #again: CallAgain | undefined;
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
  #performing = 0;

  constructor(runInside: RunInside, begin: Beginning, fetch: typeof globalThis.fetch) {
    const { session, address, tools, node, version, native } = begin;
    this.#session = session?.id;
    this.#isFirst = session === undefined;
    this.state = session?.state ?? '';
    this.#uses = native && new ToolUses();
    this.#again = native?.again;
    const gate =
      native &&
      this.#uses &&
      new HookGate({
        ...{ uses: this.#uses, ...native, again: native.again },
        onCall: (call) => this.#ask(call),
        onFailure: (why) => this.#fail(why),
      });
    this.#way = new ModelWay({
      ...{ address, fetch, uses: this.#uses },
      isReleased: (id) => gate?.isReleased(id) ?? false,
      onUnreleased: ([id]) =>
        this.#fail(
          `It made the call ${id} without asking for its release. No snapshot shows what that call did.`,
          unseen,
        ),
    });
    this.#launcher = new Launcher(
      {
        ...{ runInside, node, tools: native ? [] : tools, version, egress: this.#way },
        onHook: (body, answer) => gate?.hear(body, answer),
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

  /** The agent makes a call with its own tool now. */
  get isPerforming(): boolean {
    return this.#performing > 0;
  }

  /** Whether the agent waits to make this call with its own tool. */
  canPerform(id: string): boolean {
    return this.isWaiting && this.#open.get(id)?.own !== undefined;
  }

  /** Answers the calls of its last turn. The words of people come with the last. */
  answer(results: readonly (CallText & { id: string })[], words: readonly string[]): void {
    this.lastAt = performance.now();
    for (const [at, { id, ...result }] of results.entries())
      this.#open.get(id)?.answer(result, at === results.length - 1 ? words : []);
    this.#open.clear();
  }

  /**
   * Lets the agent make a call with its own tool.
   * @throws AgentError when the agent ends before its report
   */
  async perform(id: string, args: unknown): Promise<Performed> {
    const own = this.#open.get(id)?.own;
    if (own === undefined) throw new AgentError('It does not wait for this call.');
    this.#performing += 1;
    try {
      const lost = this.#launcher.agentEnded.then(() => {
        throw this.#explained(new AgentError('It ended before it reported its call.'));
      });
      return await Promise.race([own.perform(args), lost]);
    } finally {
      this.#performing -= 1;
      this.lastAt = performance.now();
    }
  }

  /**
   * Waits until a started agent asks for its open call.
   * @throws AgentError when it ends first, or makes other calls
   */
  async askedAgain(whyOver: ModelWay['whyOver']): Promise<void> {
    this.#way.open(whyOver);
    try {
      await this.#until(() => this.#asked.length > 0 || this.#outcome !== undefined);
      if (this.#outcome?.kind === 'failed') throw this.#explained(this.#outcome.error);
      const [call] = this.#asked.splice(0);
      if (call === undefined) throw new AgentError(notAgain);
      this.#askedBytes = 0;
      this.#open.set(call.id, call);
    } finally {
      this.#way.close();
    }
  }

  /**
   * Waits for its next calls or its answer. Aborting ends the agent.
   * @param onText called with its words as they come
   * @param whyOver the reason when it may ask its model no more, by the tokens of this turn; undefined while it may
   * @throws AgentError
   */
  async next({ signal, onText, whyOver, holds = () => false }: AskedTurn): Promise<AgentTurn> {
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
      const together = hasCalls && this.#allTogether();
      const isDeferred = this.#uses !== undefined && (await together) !== false && (await this.#hold(holds));
      const [session] = await Promise.all([this.#save(), together]);
      signal.throwIfAborted();
      const asked = this.#asked.splice(0, mostCalls);
      for (const call of asked) this.#open.set(call.id, call);
      if (this.#asked.length === 0) this.#askedBytes = 0;
      const text = this.#text;
      this.#text = '';
      this.lastAt = performance.now();
      const calls = asked.map(({ id, tool, args, own }) => ({ id, tool, args, error: own?.error }));
      const isOver = isDeferred || !hasCalls;
      return { text, calls, usage: this.takeUsed(), session: { ...session, isDeferred }, isOver };
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

  /**
   * A held call should keep no process: the agent ends with the call open. Claude Code can do so for the only call of an answer. In an answer with
   * several calls, the held calls are refused.
   * @returns whether the agent has ended with its call open
   */
  async #hold(holds: NonNullable<AskedTurn['holds']>): Promise<boolean> {
    const held = this.#asked.filter(({ own, ...call }) => own !== undefined && own.error === undefined && holds(call));
    if (held.length === 0) return false;
    for (const until = performance.now() + deferMs; this.#way.isAsked && performance.now() < until; )
      await new Promise((resolve) => setTimeout(resolve, togetherMs));
    for (const { own } of held) {
      const isAlone = this.#asked.length === 1 && (this.#uses?.together(own?.id ?? '') ?? 0) <= 1;
      if (own !== undefined && !isAlone) own.error = callAlone;
    }
    const [alone] = held;
    if (alone?.own === undefined || alone.own.error !== undefined) return false;
    alone.own.defer();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<boolean>((resolve) => {
      timer = setTimeout(resolve, deferMs, false);
    });
    const hasEnded = await Promise.race([this.#launcher.agentEnded.then(() => true), late]);
    clearTimeout(timer);
    return hasEnded;
  }

  /** Starts the agent and speaks with it. @throws SessionError */
  #begin(launcher: Launcher, { agent, session, system, prompt, retold, address, tools, native }: Beginning): void {
    const driver = driverOf(agent);
    const asked = {
      ...{ modelUrl: `http://127.0.0.1:${egressPort}`, address, system, prompt, retold },
      ...{ session: session?.id, tools: tools.map(({ name }) => name), native: native !== undefined },
      isDeferred: native !== undefined && session?.isDeferred === true,
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
      () => {
        launcher.endInput();
        this.#settle({ kind: 'answered' });
      },
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
    // A call that is made again keeps its id of the log.
    const again = this.#open.size === 0 && this.#calls === 1 ? this.#again?.id : undefined;
    const id = again ?? call.own?.id ?? `call_${this.state.slice(0, 12)}_${this.#calls}`;
    this.#asked.push({ ...call, id: this.#freeId(id) });
    this.#changed();
  }

  /** A second call with the same id gets another id in the log. */
  #freeId(id: string): string {
    const isTaken = this.#open.has(id) || this.#asked.some((call) => call.id === id);
    return isTaken ? `${id}.${this.#calls}` : id;
  }

  /** More calls of the same answer follow at once. */
  async #allTogether(): Promise<void> {
    for (let seen = 0; seen < this.#asked.length && this.#asked.length < mostCalls; ) {
      seen = this.#asked.length;
      await new Promise((resolve) => setTimeout(resolve, togetherMs));
    }
  }

  /** A session that could not be read once is lost for this process: the next start retells the run. The work itself continues. */
  async #save(): Promise<Omit<AgentTurn['session'], 'isDeferred'>> {
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
  #fail(message: string, code?: string): void {
    this.#launcher.kill();
    this.#settle({ kind: 'failed', error: new AgentError(message, undefined, code) });
  }

  /** The error with the last words of the provider and of the agent. */
  #explained({ message, code: kind }: AgentError): AgentError {
    const { refusal } = this.#way;
    const { code, why, words } = this.#launcher.end ?? { code: undefined, why: '', words: '' };
    if (why === 'ENOENT') return new AgentError('ENOENT');
    const end = code === undefined ? '' : ` It ended with ${code ?? why}.`;
    const said = words.trim() === '' ? '' : ` Its last words: ${words.trim().slice(-1000)}`;
    const model = refusal === undefined ? '' : ` Its model was refused: ${refusal}`;
    return new AgentError(`${message}${end}${model}${said}`.slice(0, 3000), this.#way.failure, kind);
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

const unseen = 'EAGENTUNSEEN';
const notAgain = 'It ended without making its open call again.';
const callAlone: Problem = {
  code: 'ECALLALONE',
  message: 'A person has to decide about this call, and other calls came in the same answer. Nothing of it ran.',
  next: 'Make this call again, alone: as the only call of your answer.',
};
