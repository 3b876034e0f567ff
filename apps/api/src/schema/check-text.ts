import { toPointer } from '@holdpoint/contract';
import type { PointerError } from '@holdpoint/contract/wire';
import type { Redactor } from '@holdpoint/secrets';
import { ApiProblem } from '../errors/to-problem.ts';

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

/**
 * The engine records requests, so a request names a secret and never has the secret's value.
 * @throws ApiProblem `secret_in_request`
 */
export function checkSecretValues(redactor: Redactor, body: unknown): void {
  if (redactor.isEmpty || redactor.json(body) === body) return;
  const errors = [...placesOf(redactor, body, [])];
  const [first] = errors;
  const detail = `${first?.pointer ?? 'the body'} has ${first?.detail ?? 'the value of a secret'}`;
  throw new ApiProblem('secret_in_request', detail, { errors });
}

function* placesOf(redactor: Redactor, value: unknown, path: readonly PropertyKey[]): Generator<PointerError> {
  if (typeof value === 'string' || typeof value === 'number') {
    const names = redactor.find(String(value));
    if (names.length > 0)
      yield { pointer: toPointer([...path]), detail: `the value of the secret ${names.join(', ')}` };
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  for (const [name, inner] of Object.entries(value)) {
    const names = redactor.find(name);
    if (names.length > 0)
      yield { pointer: toPointer([...path]), detail: `a field named like the secret ${names.join(', ')}` };
    else yield* placesOf(redactor, inner, [...path, Array.isArray(value) ? Number(name) : name]);
  }
}
