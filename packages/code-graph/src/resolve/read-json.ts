/** JSON with comments and trailing commas, as in tsconfig.json. Undefined for broken JSON or any value but an object. */
export function readJson(text: string | undefined): Record<string, unknown> | undefined {
  if (text === undefined) return undefined;
  try {
    // An unclosed comment or string matches up to the end: otherwise each beginning is tried, in a time that grows with the square.
    const plain = text
      .replace(/^\uFEFF/, '')
      .replaceAll(
        /("(?:\\[\s\S]|[^"\\])*(?:"|\\?$))|\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/g,
        (_all, string: string | undefined) => string ?? '',
      )
      .replaceAll(
        /("(?:\\[\s\S]|[^"\\])*(?:"|\\?$))|,(?=\s*[}\]])/g,
        (_all, string: string | undefined) => string ?? '',
      );
    return asObject(JSON.parse(plain));
  } catch {
    return undefined;
  }
}

export function asObject(value: unknown): Record<string, unknown> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined;
}

export function asString(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
