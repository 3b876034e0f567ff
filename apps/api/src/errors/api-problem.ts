import type { ConflictSummary } from '@holdpoint/contract';
import type { PointerError } from '@holdpoint/contract/wire';
import { type ApiProblemCode, apiProblems } from './registry.ts';

interface Details {
  errors?: readonly PointerError[];
  conflicts?: readonly ConflictSummary[];
  approval_id?: string | undefined;
  /** @default the text of the registry for the code */
  next?: string | undefined;
}

/** A refusal of a route, with a code of the registry. */
export class ApiProblem extends Error {
  override readonly name = 'ApiProblem';
  readonly code: ApiProblemCode;
  readonly next: string;
  readonly errors: readonly PointerError[] | undefined;
  readonly conflicts: readonly ConflictSummary[] | undefined;
  readonly approvalId: string | undefined;

  constructor(code: ApiProblemCode, detail: string, { errors, conflicts, approval_id, next }: Details = {}) {
    super(detail);
    this.code = code;
    this.next = next ?? apiProblems[code].next;
    this.errors = errors;
    this.conflicts = conflicts;
    this.approvalId = approval_id;
  }
}
