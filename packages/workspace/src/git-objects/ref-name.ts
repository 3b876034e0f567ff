/** Characters forbidden in every ref: controls, blanks, and the syntax of revisions and of patterns. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: a ref has none.
const forbidden = /[\x00-\x20\x7f~^:?*[\\]|\.\.|@\{/;

/** Whether git accepts a full ref name, by the rules of `git check-ref-format`: https://git-scm.com/docs/git-check-ref-format */
export function isRefName(name: string): boolean {
  if (!name.isWellFormed() || forbidden.test(name) || name.endsWith('.')) return false;
  const parts = name.split('/');
  return parts.length > 1 && parts.every((part) => part !== '' && !part.startsWith('.') && !part.endsWith('.lock'));
}
