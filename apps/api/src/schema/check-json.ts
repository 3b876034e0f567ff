import { ApiProblem } from '../errors/api-problem.ts';

/** Arrays and objects within one another. What validates, hashes and stores JSON calls itself once per level. */
const deepestJson = 100;

/** @throws ApiProblem `json_too_deep` */
export function checkDepth(json: unknown): void {
  let level = isNested(json) ? [json] : [];
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > deepestJson) {
      throw new ApiProblem('json_too_deep', `the body has more than ${deepestJson} levels of arrays and objects`);
    }
    const below: object[] = [];
    for (const value of level) {
      for (const inner of Array.isArray(value) ? value : Object.values(value)) if (isNested(inner)) below.push(inner);
    }
    level = below;
  }
}

const isNested = (value: unknown): value is object => typeof value === 'object' && value !== null;

/**
 * JSON can write half of a surrogate pair; UTF-8, in which everything is stored, cannot. Stored as U+FFFD it would be another text than the
 * one that was sent, hashed and decided on.
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
