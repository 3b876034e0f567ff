import { kindOf } from './segments.js';

/** The parameters of a path that fits a route; null when the path does not fit. */
export function match(route, segments) {
  const params = {};
  for (const [at, expected] of route.entries()) {
    const kind = kindOf(expected);
    if (kind === 'rest') return { ...params, rest: segments.slice(at).join('/') };
    const given = segments[at];
    if (given === undefined) return null;
    if (kind === 'param') params[expected.slice(1)] = given;
    else if (given !== expected) return null;
  }
  return segments.length === route.length ? params : null;
}
