/**
 * Names are bytes. Inside this package a name or path is a `latin1` string, a character per byte: every name of a file system has exactly
 * one representation, can be a map key, and compares in byte order. Callers of the package see text: UTF-8 unchanged, any other bytes
 * quoted as git does (`"caf\351"`), so different names stay different.
 */
export type BytePath = string;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const escapes: Readonly<Record<string, string>> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\t': '\\t',
  '\n': '\\n',
  '\v': '\\v',
  '\f': '\\f',
  '\r': '\\r',
  '"': '\\"',
  '\\': '\\\\',
};
const unescapes = new Map(Object.entries(escapes).map(([raw, escaped]) => [escaped.slice(1), raw]));

/** The text form of a path. A name with a double quote at its start is quoted too, to keep the form reversible. */
export function toText(path: BytePath): string {
  if (!path.startsWith('"')) {
    try {
      return utf8.decode(Buffer.from(path, 'latin1'));
    } catch {
      // not UTF-8: quoted below
    }
  }
  return `"${Array.from(path, quote).join('')}"`;
}

function quote(byte: string): string {
  const code = byte.charCodeAt(0);
  if (byte in escapes) return escapes[byte] ?? '';
  return code < 0x20 || code >= 0x7f ? `\\${code.toString(8).padStart(3, '0')}` : byte;
}

/** The bytes of a text form made by `toText`. */
export function fromText(text: string): BytePath {
  if (!/^".*"$/s.test(text)) return Buffer.from(text, 'utf8').toString('latin1');
  return text.slice(1, -1).replace(/\\([0-3][0-7]{2}|.)/gs, (_, escaped: string) => {
    return escaped.length === 3
      ? String.fromCharCode(Number.parseInt(escaped, 8))
      : (unescapes.get(escaped) ?? escaped);
  });
}

/** The bytes of never quoted text, for example of a path from a file tool. */
export function fromPlain(text: string): BytePath {
  return Buffer.from(text, 'utf8').toString('latin1');
}

/** Characters ignored by HFS+ in names (zero-width joiners and the like), as UTF-8 bytes. */
const ignoredByHfs = /\xe2\x80[\x8c-\x8f\xaa-\xae]|\xe2\x81[\xaa-\xaf]|\xef\xbb\xbf/g;

/**
 * Whether some file system resolves the name to `.git`: another case, characters HFS+ ignores, trailing dots and spaces, NTFS streams and
 * the short name. Such an entry must never reach a source: there the entry would be the user's repository.
 */
export function isDotGit(name: string): boolean {
  if (!mayBeDotGit.test(name)) return false;
  const folded = name.replace(ignoredByHfs, '').toLowerCase();
  return /^(\.git|git~1)([ .]*(:.*)?)?$/s.test(folded) || /^(\.git|git~1)[ .]*\\/s.test(folded);
}

/** A cheap pre-check: the possible first characters of such a name. */
const mayBeDotGit = /^[.gG\xe2\xef]/;

export function isAscii(path: BytePath): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a byte is a byte
  return /^[\x00-\x7f]*$/.test(path);
}

/** Whether a name in a foreign tree object is a safe file name. */
export function isPlainName(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..' && !name.includes('/') && !name.includes('\0') && !isDotGit(name);
}

/** `a/b` from `a` and `b`; the root is the empty path. */
export function join(path: BytePath, name: string): BytePath {
  return path === '' ? name : `${path}/${name}`;
}

/** Whether `path` is `folder` or lies below `folder`. */
export function isWithin(path: BytePath, folder: BytePath): boolean {
  return folder === '' || path === folder || path.startsWith(`${folder}/`);
}

/** True for a path in `paths`, and for a path below one of `paths`. */
export function isWithinAny(paths: ReadonlyMap<string, unknown>, path: string): boolean {
  if (paths.size === 0) return false;
  const names = path.split('/');
  return names.some((_, index) => paths.has(names.slice(0, index + 1).join('/')));
}
