import { toPointer } from '@holdpoint/contract';
import type { PointerError } from '@holdpoint/contract/wire';
import type { Redactor } from '@holdpoint/secrets';
import { ApiProblem } from '../errors/api-problem.ts';

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
