/** A message: field numbers with their names and types. An array type is a repeated field. */
export type MessageShape = { readonly [field: number]: readonly [name: string, type: FieldType] };
type FieldType = Scalar | (() => MessageShape) | readonly [Scalar | (() => MessageShape)];
type Scalar = 'string' | 'hex' | 'bytes' | 'varint' | 'int64' | 'bool' | 'double' | 'fixed32' | 'fixed64' | 'sfixed64';
export type Message = Record<string, unknown>;

/** Decodes a message into the shape that the same message has in JSON. Fields that the shape does not know are skipped. */
export function decode(bytes: Buffer, shape: MessageShape): Message {
  const message: Message = {};
  for (const [, field] of Object.entries(shape)) if (Array.isArray(field[1])) message[field[0]] = [];
  for (let at = 0; at < bytes.length; ) {
    const [tag, next] = varint(bytes, at);
    const wire = Number(tag & 7n);
    const [raw, end] = rawValue(bytes, next, wire);
    at = end;
    const field = shape[Number(tag >> 3n)];
    if (field === undefined) continue;
    const [name, type] = field;
    if (!Array.isArray(type)) message[name] = readValue(raw, type as Single);
    else (message[name] as unknown[]).push(...repeated(raw, type[0] as Single));
  }
  return message;
}

type Single = Exclude<FieldType, readonly unknown[]>;
type Raw = bigint | Buffer;

function rawValue(bytes: Buffer, at: number, wire: number): [Raw, number] {
  switch (wire) {
    case 0:
      return varint(bytes, at);
    case 1:
      return [bytes.subarray(at, at + 8), at + 8];
    case 2: {
      const [length, from] = varint(bytes, at);
      return [bytes.subarray(from, from + Number(length)), from + Number(length)];
    }
    case 5:
      return [bytes.subarray(at, at + 4), at + 4];
    default:
      throw new Error(`unknown wire type ${wire}`);
  }
}

function varint(bytes: Buffer, from: number): [bigint, number] {
  let value = 0n;
  for (let at = from, shift = 0n; ; at++, shift += 7n) {
    const byte = bytes[at];
    if (byte === undefined) throw new Error('the message is cut off');
    value |= BigInt(byte & 127) << shift;
    if (byte < 128) return [value, at + 1];
  }
}

/** Numbers of a repeated field come packed. */
function repeated(raw: Raw, type: Single): unknown[] {
  const size = type === 'double' || type === 'fixed64' ? 8 : 0;
  if (size === 0 || typeof raw === 'bigint') return [readValue(raw, type)];
  return Array.from({ length: raw.length / size }, (_, at) =>
    readValue(raw.subarray(at * size, (at + 1) * size), type),
  );
}

function readValue(raw: Raw, type: Single): unknown {
  if (typeof type === 'function') return decode(raw as Buffer, type());
  const bytes = raw as Buffer;
  switch (type) {
    case 'string':
      return bytes.toString();
    case 'hex':
      return bytes.toString('hex');
    case 'bytes':
      return bytes.toString('base64');
    case 'varint':
      return Number(raw);
    case 'int64':
      return String(BigInt.asIntN(64, raw as bigint));
    case 'bool':
      return raw === 1n;
    case 'double':
      return bytes.readDoubleLE();
    case 'fixed32':
      return bytes.readUInt32LE();
    case 'fixed64':
      return String(bytes.readBigUInt64LE());
    case 'sfixed64':
      return String(bytes.readBigInt64LE());
    default:
      throw new Error(`no type ${type satisfies never}`);
  }
}
