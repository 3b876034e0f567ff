/** Fewest characters of a short id: fewer would soon be ambiguous. */
const leastCharacters = 4;

/** The forms of a short id: characters of its last block, or its end. Undefined: another kind of text. */
export function shortIdIn(text: string, prefix: string): string | undefined {
  const given = text.startsWith(`${prefix}_`) ? text.slice(prefix.length + 1) : text;
  const digits = given.replaceAll('-', '');
  return /^[0-9a-f]+$/.test(digits) && digits.length >= leastCharacters && digits.length < 32 ? digits : undefined;
}

/** Whether an id ends with these characters, or its last block begins with them, or the whole block for a cut id. */
export function isShortFor(id: string, short: string): boolean {
  const [, uuid = ''] = id.split('_');
  const digits = uuid.replaceAll('-', '');
  return digits.endsWith(short) || digits.slice(-lastBlock).startsWith(short) || digits.startsWith(short);
}

/** As lists and messages show an id to people: the end of an id, the beginning of a snapshot. Other texts stay as they are. */
export function shortId(id: string): string {
  if (/^[0-9a-f]{40}$/.test(id)) return id.slice(0, shownOfSnapshot);
  return /^[a-z]+_[0-9a-f-]{36}$/.test(id) ? id.slice(-shown) : id;
}

const lastBlock = 12;
const shown = 8;
const shownOfSnapshot = 10;
