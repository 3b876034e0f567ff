import type { ModelAnswer } from '@holdpoint/models';
import { egressPort } from '@holdpoint/sandbox';
import type { AgentTurn, AskedTurn, Beginning } from './agent-turn.ts';
import { AskedCalls } from './asked-calls.ts';
import { AgentError } from './drivers/driver.ts';
import { driverOf } from './drivers/drivers.ts';
import { holdCall } from './hold-call.ts';
import { Launcher, type RunInside } from './launcher.ts';
import { ModelWay } from './model-way/model-way.ts';
import { ToolUses } from './model-way/tool-uses.ts';
import { HookGate } from './native/hook-gate.ts';
import { foldSession, nextState } from './session/session.ts';
import type { AskedCall, CallText, Performed } from './tools-server.ts';

type Outcome = { kind: 'answered' } | { kind: 'failed'; error: AgentError };

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
  readonly #uses: ToolUses | undefined;
  readonly #calls: AskedCalls;
  #session: string | undefined;
  #text = '';
  #outcome: Outcome | undefined;
  #isLost = false;
  #isFirst: boolean;
  #onText: (text: string) => void = () => {};
  #changed = () => {};
  #performing = 0;

  constructor(runInside: RunInside, begin: Beginning, fetch: typeof globalThis.fetch) {
    const { session, address, tools, node, version, native, untold } = begin;
    this.#session = session?.id;
    this.#isFirst = session === undefined;
    this.state = session?.state ?? '';
    this.#uses = native && new ToolUses();
    this.#calls = new AskedCalls({
      ...{ untold, again: native?.again },
      onTooMany: () => this.#fail('It made more calls at once than a turn can have.'),
      onCall: () => this.#changed(),
    });
    const onCall = (call: AskedCall) => this.#calls.add(call, this.state);
    const gate =
      native &&
      this.#uses &&
      new HookGate({
        ...{ uses: this.#uses, ended: native.ended, again: native.again, onCall },
        words: session?.isDeferred ? native.words : [],
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
        onCall,
        onTooMany: (what) => this.#fail(`It has more than ${what}.`),
      },
      (launcher) => this.#begin(launcher, begin),
    );
    this.ended = this.#launcher.ended.then((why) => this.#fail(why));
  }

  /** The agent made a call or asked its model. */
  get hasActed(): boolean {
    return this.#calls.count > 0 || this.#way.hasPassed;
  }

  /** The agent lives, and its calls have no answers yet. */
  get isWaiting(): boolean {
    return this.#outcome === undefined && this.#calls.hasOpen && !this.#launcher.stopped.aborted;
  }

  /** The agent makes a call with its own tool now. */
  get isPerforming(): boolean {
    return this.#performing > 0;
  }

  /** Whether the agent waits to make this call with its own tool. */
  canPerform(id: string): boolean {
    return this.isWaiting && this.#calls.open(id)?.own !== undefined;
  }

  /** Answers the calls of its last turn. The words of people come with the last. */
  answer(results: readonly (CallText & { id: string })[], words: readonly string[]): void {
    this.lastAt = performance.now();
    this.#calls.answer(results, words);
  }

  /**
   * Lets the agent make a call with its own tool.
   * @throws AgentError when the agent ends before its report
   */
  async perform(id: string, args: unknown): Promise<Performed> {
    const own = this.#calls.open(id)?.own;
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
      await this.#until(() => this.#calls.next.length > 0 || this.#outcome !== undefined);
      if (this.#outcome?.kind === 'failed') throw this.#explained(this.#outcome.error);
      if (this.#calls.take().length === 0) throw new AgentError(notAgain);
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
      await this.#until(() => this.#calls.next.length > 0 || this.#outcome !== undefined);
      signal.throwIfAborted();
      if (this.#outcome?.kind === 'failed') throw this.#explained(this.#outcome.error);
      const hasCalls = this.#calls.next.length > 0;
      const together = hasCalls && this.#calls.allTogether();
      const isDeferred = this.#uses !== undefined && (await together) !== false && (await this.#hold(holds));
      const [session] = await Promise.all([this.#save(), together]);
      signal.throwIfAborted();
      const asked = this.#calls.take();
      const text = this.#text;
      this.#text = '';
      this.lastAt = performance.now();
      const calls = asked.map(({ id, tool, args, own }) => ({ id, tool, args, error: own?.error }));
      const isOver = isDeferred || !hasCalls;
      return {
        text,
        calls,
        usage: this.takeUsed(),
        session: { ...session, isDeferred, names: this.#calls.takeNames() },
        isOver,
      };
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

  async #hold(holds: NonNullable<AskedTurn['holds']>): Promise<boolean> {
    if (this.#uses === undefined) return false;
    const { agentEnded } = this.#launcher;
    return holdCall({ calls: this.#calls, uses: this.#uses, way: this.#way, agentEnded }, holds);
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

  /** A session that could not be read once is lost for this process: the next start retells the run. The work itself continues. */
  async #save(): Promise<Omit<AgentTurn['session'], 'isDeferred' | 'names'>> {
    const saved = this.#isLost ? undefined : await this.#launcher.save();
    const isFirst = this.#isFirst;
    this.#isFirst = false;
    this.#isLost = saved === undefined;
    this.state = nextState(this.state, saved?.change ?? { data: `lost after call ${this.#calls.count}` });
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
