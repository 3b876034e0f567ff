/** A glob without a meaning. The message continues "the glob …". */
export class GlobError extends Error {
  override name = 'GlobError';
}
