import { join } from 'node:path';

/** The whole texts of long results: a second root, which requests only read. */
export interface Outputs {
  /** In paths of requests. */
  name: string;
  /** Where the folder is. Without isolation it has no mount. */
  place: string;
}

/** The root of a request, and the request with its path relative to the outputs when it names one of them. */
export function below<Input extends { path: string }>(
  { root, outputs }: { root: string; outputs: Outputs },
  input: Input,
): [root: string, input: Input] {
  const { name, place } = outputs;
  if (input.path !== name && !input.path.startsWith(`${name}/`)) return [root, input];
  return [place, { ...input, path: input.path.slice(name.length + 1) || '.' }];
}

/** The arguments of a search, with the place of the outputs for their name. */
export const argumentsBelow = ({ name, place }: Outputs, args: readonly string[]): string[] =>
  args.map((arg) => (arg === name || arg.startsWith(`${name}/`) ? join(place, arg.slice(name.length)) : arg));
