import type { Json } from '@holdpoint/contract';

/** The caller's data for a tool, passed with the input. A tool of `defineTool` gets all of the data. */
export interface SageContext {
  cwd?: string;
  env?: Record<string, string>;
  /** The tool must change nothing. */
  dryRun?: boolean;
  permissions?: readonly string[];
  logger?: unknown;
  /** Answers `$ENV.NAME` in the input. */
  secretProvider?: SecretProvider;
  signal?: AbortSignal;
}

export interface SecretProvider {
  get(name: string): Promise<string | undefined> | string | undefined;
}

/** Fields impossible for a call of a built-in tool, with their place in the run. */
const ofTheRun = {
  cwd: 'its workspace is the working directory',
  env: 'give `settings.env` to the run',
  dryRun: 'create the run with `dry_run: true` in its modes, or call a tool that only reads',
  permissions: 'give `permissions` to the run',
  secretProvider: 'give `secrets` to the run',
} as const;

/**
 * @param isRead whether the tool changes nothing: its dry run is a normal call
 * @throws Error for a field lost in the call: a caller in want of a dry run must not get a write
 */
export function assertKept(name: string, context: SageContext, isRead: boolean): void {
  for (const [field, instead] of Object.entries(ofTheRun)) {
    const isGiven = context[field as keyof typeof ofTheRun] !== undefined && context[field as 'dryRun'] !== false;
    if (!isGiven || (field === 'dryRun' && isRead)) continue;
    throw new Error(`${name} runs in an open run, and a single call has no \`${field}\` of its own: ${instead}.`);
  }
}

/** The provider does not have the secret named in an input. */
export class UnknownSecret extends Error {
  override readonly name = 'UnknownSecret';
}

/**
 * Puts the values of secrets in place of `$ENV.NAME`, in nested strings, too. Without a provider the text is unchanged.
 * @returns the input, and a function to remove the values from a result, in their usual encodings
 * @throws UnknownSecret
 */
export async function withSecrets(
  input: unknown,
  provider: SecretProvider | undefined,
): Promise<{ input: unknown; redact: <Value extends Json>(value: Value) => Value }> {
  if (provider === undefined) return { input, redact: (value) => value };
  const values = new Map<string, string>();
  for (const name of namesIn(input)) {
    const value = await provider.get(name);
    if (value === undefined) throw new UnknownSecret(`$ENV.${name}: the secret provider has no "${name}".`);
    values.set(name, value);
  }
  const filled = mapStrings(input, (text) => text.replace(reference, (_, name: string) => values.get(name) ?? ''));
  return { input: filled, redact: (value) => mapStrings(value, (text) => without(text, values)) as typeof value };
}

const reference = /\$ENV\.([A-Za-z_][A-Za-z0-9_]*)/g;

function namesIn(input: unknown): Set<string> {
  const names = new Set<string>();
  mapStrings(input, (text) => {
    for (const [, name = ''] of text.matchAll(reference)) names.add(name);
    return text;
  });
  return names;
}

function without(text: string, values: ReadonlyMap<string, string>): string {
  let kept = text;
  for (const [name, value] of values) {
    for (const form of formsOf(value)) kept = kept.replaceAll(form, `[secret ${name}]`);
  }
  return kept;
}

/** Longest first: no form hides in the rest of another form. */
const formsOf = (value: string): string[] =>
  [value, Buffer.from(value).toString('base64'), encodeURIComponent(value), JSON.stringify(value).slice(1, -1)]
    .filter((form) => form !== '')
    .sort((a, b) => b.length - a.length);

function mapStrings(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((one) => mapStrings(one, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [change(key), mapStrings(one, change)]));
}
