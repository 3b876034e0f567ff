/** How a body is read. `unknown`: the type does not say, so the bytes decide. */
type BodyKind = 'html' | 'text' | 'binary' | 'unknown';

export interface MediaType {
  kind: BodyKind;
  /** Lower case, without parameters; empty when there is none. */
  essence: string;
  /** The `charset` parameter in its original spelling. */
  charset?: string;
}

/** Reads a `Content-Type` header. Never throws. */
export function parseMediaType(header: string | undefined): MediaType {
  const value = (header ?? '').slice(0, maxHeader);
  const [first = ''] = value.split(';');
  const essence = first.trim().toLowerCase();
  const charset = /;\s*charset\s*=\s*(?:"([^"]*)"|([^\s;"]+))/i.exec(value);
  const label = charset?.[1] ?? charset?.[2];
  return { kind: kindOf(essence), essence, ...(label ? { charset: label } : {}) };
}

const maxHeader = 1000;

function kindOf(essence: string): BodyKind {
  if (essence === 'text/html' || essence === 'application/xhtml+xml') return 'html';
  if (essence.startsWith('text/') || textSuffix.test(essence) || textTypes.has(essence)) return 'text';
  return noType.has(essence) ? 'unknown' : 'binary';
}

const textSuffix = /^(?:application|image|model|message)\/.+\+(?:json|xml|yaml)$/;

/** Servers send these for files of unknown type, source files included. */
const noType = new Set(['', 'application/octet-stream', 'binary/octet-stream', 'application/unknown']);

const textTypes = new Set([
  'application/ecmascript',
  'application/graphql',
  'application/javascript',
  'application/json',
  'application/json5',
  'application/jsonl',
  'application/ld+json',
  'application/ndjson',
  'application/sql',
  'application/toml',
  'application/typescript',
  'application/x-httpd-php',
  'application/x-javascript',
  'application/x-json',
  'application/x-ndjson',
  'application/x-perl',
  'application/x-python',
  'application/x-sh',
  'application/x-shellscript',
  'application/x-tex',
  'application/x-toml',
  'application/x-yaml',
  'application/xml',
  'application/xml-dtd',
  'application/yaml',
  'message/rfc822',
]);
