/** Names of errors with no other meaning. */
const codes: ReadonlySet<string> = new Set([
  'context_length_exceeded',
  'exceed_context_size_error',
  'request_too_large',
  'model_context_window_exceeded',
]);

/** Words of providers and servers for a request longer than the window. Each begins with fixed words, so a match takes linear time. */
const wordings: readonly RegExp[] = [
  /prompt is too long|input is too long|input length exceeds|input length and .{0,20}max_tokens.{0,20} exceed context limit/i,
  /(?:exceeds?|exceeded) (?:the |this |your )?(?:model'?s? |available |maximum )*(?:context (?:window|length|size|limit)|token limit)/i,
  /maximum (?:context|prompt|model|sequence) length|maximum number of (?:input )?tokens allowed|context window exceeds/i,
  /(?:prompt|input) token count .{0,60}exceeds|too many tokens: size limit|loaded with context length/i,
  /(?:longer|greater) than the (?:model'?s )?context length|exceeded max context length/i,
  /reduce the length of the (?:messages|prompt|input)|tokens must be reduced|request too large for/i,
];

/** Where the words name the window. The words also have the request's own length, so a pattern locates the window. */
const windows: readonly RegExp[] = [
  /> ?(\d[\d,]{2,9}) maximum/i,
  /exceed context limit: [\d,]{1,10} \+ [\d,]{1,10} > (\d[\d,]{2,9})/i,
  /maximum number of (?:input )?tokens allowed \(?(\d[\d,]{2,9})/i,
  /(?:context|prompt|model|sequence) length (?:is|of)(?: only)? (\d[\d,]{2,9})/i,
  /context length \((\d[\d,]{2,9}) tokens/i,
  /available context size \((\d[\d,]{2,9}) tokens/i,
  /(\d[\d,]{2,9}) maximum context length/i,
  /token limit: ?(\d[\d,]{2,9})/i,
  /exceeds the limit of (\d[\d,]{2,9})/i,
  /\bLimit (\d[\d,]{2,9}), Requested \d/i,
];

const longestWords = 2000;

/** Recognises a refusal for the request's length, and reads the window if the refusal names the window. `null`: for another reason. */
export function readContextRefusal(refusal: {
  status: number | undefined;
  words: readonly string[];
  message: string;
  /** The window as a number of its own in the body (llama.cpp). */
  window?: number | undefined;
}): { window: number | undefined } | null {
  const message = refusal.message.slice(0, longestWords);
  const named = refusal.words.some((word) => codes.has(word));
  if (!named && refusal.status !== 413 && !wordings.some((one) => one.test(message))) return null;
  return { window: refusal.window ?? windowIn(message) };
}

function windowIn(message: string): number | undefined {
  for (const wording of windows) {
    const digits = wording.exec(message)?.[1];
    if (digits !== undefined) return Number(digits.replaceAll(',', ''));
  }
  return undefined;
}
