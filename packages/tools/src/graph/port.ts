import type { Json } from '@holdpoint/contract';
import type { TextWork } from '../text-work/text-work.ts';

export interface GraphRequest {
  query: string;
  params?: Readonly<Record<string, Json>> | undefined;
  /** The commit whose graph is asked. For the graph of the run: a snapshot of the run. @default the newest commit of the graph */
  commit?: string | undefined;
  timeout_ms: number;
  /** Bytes of the largest answer. */
  max_bytes: number;
}

/** A graph of the code. The graph holds files and symbols, and their relations, in the query language of its own. */
export interface GraphPort {
  /** @throws GraphError; every other error comes from the infrastructure */
  query(context: { text: TextWork; signal: AbortSignal }, request: GraphRequest): Promise<GraphAnswer>;
}

export interface GraphAnswer {
  results: readonly Json[];
  /** Asks for the results behind these. Absent after the last. */
  cursor?: string | undefined;
}

/** The graph of the run's own snapshots, made by a worker. */
export type OwnGraph = (request: GraphRequest) => Promise<GraphAnswer>;

/** A query without an answer. */
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

/** The model's guide to the queries of a run's graph; docs/code-graph.md has the whole. */
export const ownQueries = `query is one of
files {path?, language?}; symbols {name?, kind?, container?, exported?, path?}; outline {path}; definition {name, kind?, path?} or, for a use, {path, line, column?}; references {name, kind?, path?, defined_in?}; imports {path?, source?}; importers {path}; unparsed {path?, reason?}; summary {path?}.
name and path are globs (*, **, ?, {a,b}), a folder stands for all below it; definition, references, outline and importers take exact ones. Every query takes limit (1 to 1000, 100 by default) and cursor, the cursor of the answer before. Lines and columns count from 1.`;
