/** Who has a token, and what the token may do. */
export interface Rights {
  push?: boolean;
  statuses?: boolean;
  pulls?: boolean;
}

/** A call of the API. */
export interface ApiCall {
  method: string;
  /** Without the address of the API and the query. */
  path: string;
  query: URLSearchParams;
  body: Record<string, unknown>;
}

/** What a call gets in place of its answer. */
export interface Instead {
  status: number;
  body?: unknown;
  headers?: Record<string, string>;
}

/** A call with what is known about it. */
export type Asked = ApiCall & { names: Record<string, string>; rights: Rights | undefined };
