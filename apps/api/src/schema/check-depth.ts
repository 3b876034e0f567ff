import { ApiProblem } from '../errors/api-problem.ts';

/** Most levels of arrays and objects. Code for validation, hashes and storage of JSON calls itself once per level. */
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
