import { ApiProblem } from '../errors/api-problem.ts';

/**
 * JSON can write half of a surrogate pair; UTF-8, the form of all stored text, cannot. Stored as U+FFFD the text would differ from the sent, hashed
 * and approved text.
 * @throws ApiProblem `invalid_request`
 */
export function checkText(json: unknown): void {
  const rest: unknown[] = [json];
  while (rest.length > 0) {
    const value = rest.pop();
    if (typeof value === 'string') assertText(value);
    if (typeof value !== 'object' || value === null) continue;
    if (!Array.isArray(value)) for (const name of Object.keys(value)) assertText(name);
    for (const inner of Object.values(value)) rest.push(inner);
  }
}

function assertText(text: string): void {
  if (text.isWellFormed()) return;
  const at = JSON.stringify(text.slice(0, 100));
  throw new ApiProblem('invalid_request', `the body has text with a lone surrogate, which UTF-8 cannot carry: ${at}`);
}
