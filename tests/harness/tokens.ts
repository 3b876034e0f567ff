/** The published pattern that splits a text before o200k merges its pieces. A long word is several tokens. */
const pieces =
  /[^\r\n\p{L}\p{N}]?\p{L}+(?:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+/gu;
const lettersOfToken = 8;

/** An estimate without the vocabulary of a provider, to compare two texts of the same content. */
export const tokensOf = (text: string): number =>
  (text.match(pieces) ?? []).reduce((sum, piece) => sum + Math.ceil(piece.length / lettersOfToken), 0);
