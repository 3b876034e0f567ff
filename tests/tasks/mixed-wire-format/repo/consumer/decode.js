/** Reads all records of a buffer. */
export function decode(buffer) {
  const reader = { buffer, at: 0 };
  const records = [];
  while (reader.at < buffer.length) {
    const end = varint(reader) + reader.at;
    const record = {};
    while (reader.at < end) {
      const key = text(reader);
      record[key] = value(reader);
    }
    records.push(record);
  }
  return records;
}

function varint(reader) {
  let number = 0;
  for (let shift = 0; ; shift += 7) {
    const byte = reader.buffer[reader.at++];
    number |= (byte & 0x7f) << shift;
    if (byte < 0x80) return number;
  }
}

const unzigzag = (number) => (number >> 1) ^ -(number & 1);

function text(reader) {
  const length = varint(reader);
  const from = reader.at;
  reader.at += length;
  return reader.buffer.toString('utf8', from, reader.at);
}

function value(reader) {
  const type = reader.buffer[reader.at++];
  return type === 0 ? unzigzag(varint(reader)) : text(reader);
}
