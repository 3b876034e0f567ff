/** A glob that has no meaning. The message continues "the glob …". */
export class GlobError extends Error {
  override name = 'GlobError';
}
