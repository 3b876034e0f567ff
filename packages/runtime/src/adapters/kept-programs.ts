import type { ProcessLimits } from '@holdpoint/contract';
import type { Sandbox, WorkspaceMount } from '@holdpoint/sandbox';
import type { KeptRequest } from '@holdpoint/tools';
import { KeptProgram, type ProgramTalk } from './kept-program.ts';

export interface KeptProgramsOptions {
  sandbox: Pick<Sandbox, 'run'>;
  /** Most programs of this worker between two calls. The program without a call for the longest time ends. 0: none stays. */
  most: number;
  /** A program without a call for this many milliseconds ends. */
  idleMs: number;
  /** The run has ended or is paused. */
  isAtRest(runId: string): Promise<boolean>;
  /** Whether the operator still has the program with this pin. */
  isCurrent(program: { name: string; pin: string }): boolean;
}

/** A call that speaks with a program of its run. */
export interface KeptCall {
  mount: WorkspaceMount;
  limits: Partial<ProcessLimits>;
  signal: AbortSignal;
}

/** Limits of a program over its whole life: at most a day, and little memory, because many programs may wait. */
const keptLimits = { wall_ms: 24 * 3_600_000, memory_bytes: 1024 ** 3 };
const lookMs = 2000;

/** The programs of this worker's runs that stay between the calls of a run. They change nothing: their tree is read-only, and they have no network. */
export class KeptPrograms {
  readonly #options: KeptProgramsOptions;
  /** By run and name, the longest without a call first. */
  readonly #programs = new Map<string, KeptProgram>();
  readonly #all = new Set<KeptProgram>();
  readonly #timer: NodeJS.Timeout;

  constructor(options: KeptProgramsOptions) {
    this.#options = options;
    this.#timer = setInterval(() => void this.#endUnneeded().catch(() => {}), lookMs);
    this.#timer.unref();
  }

  /** Starts the program when the run has none. @throws SandboxError when it could not be run */
  async converse<Session, Said>(
    call: KeptCall,
    request: KeptRequest<Session>,
    talk: (session: Session) => Promise<Said>,
  ): Promise<ProgramTalk<Said>> {
    const key = JSON.stringify([call.mount.id, request.name]);
    const program = this.#programOf(key, call, request);
    const said = await program.use(talk, { signal: call.signal, isSound: request.isSound });
    this.#endSurplus();
    return said;
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all([...this.#all].map((program) => program.end()));
  }

  #programOf<Session>(key: string, { mount, limits }: KeptCall, request: KeptRequest<Session>): KeptProgram<Session> {
    const workspace = { ...mount, readOnly: true };
    const bounded = { ...limits, ...keptLimits, memory_bytes: smaller(limits.memory_bytes, keptLimits.memory_bytes) };
    const { name, pin, argv, env } = request;
    const command = { argv, env, workspace, limits: bounded };
    const start = JSON.stringify([pin, command]);
    const found = this.#programs.get(key);
    this.#programs.delete(key);
    // The key and the start name the same request, so the session has the same type.
    if (found?.isUsable === true && found.start === start) {
      this.#programs.set(key, found);
      return found as KeptProgram<Session>;
    }
    found?.retire();
    const { sandbox } = this.#options;
    const program = new KeptProgram<Session>({
      sandbox,
      runId: mount.id,
      name,
      pin,
      start,
      command,
      open: request.open,
    });
    this.#programs.set(key, program);
    this.#all.add(program);
    const forget = () => {
      this.#all.delete(program);
      if (this.#programs.get(key) === program) this.#programs.delete(key);
    };
    program.ended.then(forget, forget);
    return program;
  }

  #endSurplus(): void {
    const idle = [...this.#programs.values()].filter(({ isIdle }) => isIdle);
    for (const program of idle.slice(0, Math.max(0, idle.length - this.#options.most))) program.retire();
  }

  async #endUnneeded(): Promise<void> {
    const { idleMs, isAtRest, isCurrent } = this.#options;
    for (const program of this.#programs.values()) {
      if (!program.isIdle) continue;
      const isUnneeded = program.idleMs > idleMs || !isCurrent(program) || (await isAtRest(program.runId));
      // The run may have called in between.
      if (isUnneeded && program.isIdle) program.retire();
    }
  }
}

const smaller = (a: number | undefined, b: number): number => Math.min(a ?? b, b);
