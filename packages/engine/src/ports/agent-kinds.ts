import type { AgentKind, ListedKind, RunSpec } from '@holdpoint/contract';

/** The kinds of sub-agents of a run. A document without a valid kind is in `listed` alone, with its error. */
export interface FoundKinds {
  kinds: readonly AgentKind[];
  /** All documents and kinds of the request, the operator's first. */
  listed: readonly ListedKind[];
}

export interface AgentKinds {
  /**
   * @param input.base the first snapshot of the run: the later tree may have documents written by a model. The tools of a kind come from
   * the run's toolset
   */
  find(input: {
    runId: string;
    base: string | undefined;
    spec: Pick<RunSpec, 'toolset' | 'agents'>;
    signal: AbortSignal;
  }): Promise<FoundKinds>;
}
