export type ParsedJson = { ok: true; value: unknown } | { ok: false; line: number; column: number; detail: string };

/** Reads typed JSON, or finds its first mistake: the errors of browsers name no place, or name the place in different ways. */
export function parseJson(text: string): ParsedJson {
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch (error) {
    const at = breakOf(text);
    const before = text.slice(0, at).split('\n');
    const detail = error instanceof Error ? error.message.replace(/^JSON\.parse: /, '') : String(error);
    return { ok: false, line: before.length, column: (before.at(-1)?.length ?? 0) + 1, detail };
  }
}

/** Where the text stops to be the beginning of a JSON text (RFC 8259). */
function breakOf(text: string): number {
  let at = 0;
  const blanks = (): void => {
    while (/[ \t\r\n]/.test(text[at] ?? '')) at++;
  };
  const token = (pattern: RegExp): boolean => {
    const sticky = new RegExp(pattern.source, 'y');
    sticky.lastIndex = at;
    const found = sticky.exec(text);
    if (found === null) return false;
    at += found[0].length;
    return true;
  };
  const string = (): boolean => {
    if (text[at] !== '"') return false;
    at++;
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters break a JSON text
    while (token(/[^"\\\u0000-\u001f]+|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4}/));
    if (text[at] !== '"') return false;
    at++;
    return true;
  };
  const list = (close: string, item: () => boolean): boolean => {
    at++;
    blanks();
    if (text[at] === close) return at++ >= 0;
    for (;;) {
      blanks();
      if (!item()) return false;
      blanks();
      if (text[at] === close) return at++ >= 0;
      if (text[at] !== ',') return false;
      at++;
    }
  };
  const member = (): boolean => {
    if (!string()) return false;
    blanks();
    if (text[at] !== ':') return false;
    at++;
    return value();
  };
  const value = (): boolean => {
    blanks();
    if (text[at] === '{') return list('}', member);
    if (text[at] === '[') return list(']', value);
    return string() || token(/-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?|true|false|null/);
  };
  if (value()) blanks();
  return at;
}
