import type { AgentProcess } from '@holdpoint/outside-agents';

export interface RunningAgentsOptions {
  /** Most agents of this worker that wait for their calls. The one that waits longest ends; its session is in the log. */
  most: number;
  /** An agent that waits longer for its calls ends. */
  idleMs: number;
  /** The run has ended or is paused. */
  isAtRest(runId: string): Promise<boolean>;
}

const lookMs = 2000;

/**
 * The agents of this worker's runs. Between two turns an agent waits for the results of its calls; an agent that is ended there is started again from its
 * session, which the turn recorded.
 */
export class RunningAgents {
  readonly #options: RunningAgentsOptions;
  /** The waiting agents by run, the longest wait first. */
  readonly #waiting = new Map<string, AgentProcess>();
  readonly #all = new Set<AgentProcess>();
  readonly #timer: NodeJS.Timeout;

  constructor(options: RunningAgentsOptions) {
    this.#options = options;
    this.#timer = setInterval(() => void this.#endUnneeded().catch(() => {}), lookMs);
    this.#timer.unref();
  }

  /** The agent of a run that waits in exactly this state; any other one of the run is ended. */
  async take(runId: string, state: string | undefined): Promise<AgentProcess | undefined> {
    const agent = this.#waiting.get(runId);
    this.#waiting.delete(runId);
    if (agent === undefined || (agent.isWaiting && agent.state === state)) return agent;
    await agent.end();
    return undefined;
  }

  /** The waiting agent of a run. It stays. */
  find(runId: string): AgentProcess | undefined {
    return this.#waiting.get(runId);
  }

  add(agent: AgentProcess): void {
    this.#all.add(agent);
    void agent.ended.finally(() => this.#all.delete(agent));
  }

  keep(runId: string, agent: AgentProcess): void {
    this.#waiting.set(runId, agent);
    void agent.ended.then(() => {
      if (this.#waiting.get(runId) === agent) this.#waiting.delete(runId);
    });
    for (const [oldest, waiting] of this.#waiting) {
      if (this.#waiting.size <= this.#options.most) return;
      if (!waiting.isPerforming) this.#end(oldest);
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all([...this.#all].map((agent) => agent.end()));
  }

  #end(runId: string): void {
    const agent = this.#waiting.get(runId);
    this.#waiting.delete(runId);
    void agent?.end();
  }

  async #endUnneeded(): Promise<void> {
    const { idleMs, isAtRest } = this.#options;
    for (const [runId, agent] of this.#waiting) {
      if (agent.isPerforming) continue;
      const isUnneeded = performance.now() - agent.lastAt > idleMs || (await isAtRest(runId));
      // The run may have taken its agent in between.
      if (isUnneeded && this.#waiting.get(runId) === agent) this.#end(runId);
    }
  }
}
