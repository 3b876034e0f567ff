/** The segments of a path, without empty ones. */
export const segmentsOf = (path) => path.split('/').filter((segment) => segment !== '');

export function kindOf(segment) {
  if (segment === '*') return 'rest';
  return segment.startsWith(':') ? 'param' : 'fixed';
}
