import type { AgentKind, ListedKind, RunSpec } from '@holdpoint/contract';

/** The kinds of sub-agents of a run. A document that is no kind is in `listed` alone, with its error. */
export interface FoundKinds {
  kinds: readonly AgentKind[];
  /** All documents and kinds of the request, the operator's first. */
  listed: readonly ListedKind[];
}

export interface AgentKinds {
  /** @param input.base the first snapshot of the run: the tree may have documents that a model wrote. Their tools are those of the run's toolset */
  find(input: {
    runId: string;
    base: string | undefined;
    spec: Pick<RunSpec, 'toolset' | 'agents'>;
    signal: AbortSignal;
  }): Promise<FoundKinds>;
}
