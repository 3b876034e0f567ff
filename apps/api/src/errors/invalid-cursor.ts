import { ApiProblem } from './api-problem.ts';

export function invalidCursor(detail: string): ApiProblem {
  const next = 'Use the next_cursor of a page of this list, or leave it out for the first page.';
  return new ApiProblem('invalid_request', detail, { errors: [{ pointer: 'cursor', detail }], next });
}
