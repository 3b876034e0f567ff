import type { Json } from '@holdpoint/contract';
import type { TextWork } from '../text-work/text-work.ts';

export interface GraphRequest {
  query: string;
  params?: Readonly<Record<string, Json>> | undefined;
  /** The commit whose graph is asked. For the graph of the run: a snapshot of it. @default the newest that the graph has */
  commit?: string | undefined;
  timeout_ms: number;
  /** Bytes of the largest answer. */
  max_bytes: number;
}

/** A graph of the code. It holds files and symbols, and what they have to do with each other, in whatever language its queries are. */
export interface GraphPort {
  /** @throws GraphError; every other error is one of the infrastructure */
  query(context: { text: TextWork; signal: AbortSignal }, request: GraphRequest): Promise<GraphAnswer>;
}

export interface GraphAnswer {
  results: readonly Json[];
  /** Asks for the results behind these. Absent after the last. */
  cursor?: string | undefined;
}

/** The graph of the run's own snapshots, which a worker makes. */
export type OwnGraph = (request: GraphRequest) => Promise<GraphAnswer>;

/** A query that has no answer. */
export class GraphError extends Error {
  override readonly name = 'GraphError';
  readonly code: 'EGRAPH' | 'ETIMEOUT' | 'EQUOTA';
  readonly next: string;

  constructor(code: GraphError['code'], message: string, next: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.next = next;
  }
}
