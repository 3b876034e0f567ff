/**
 * Splits a text into records. A record ends at a line break.
 */
export function splitRecords(text) {
  const normal = text.replace(/\r\n?/g, '\n');
  const records = normal.split('\n');
  if (records.at(-1) === '') records.pop();
  return records;
}

/**
 * Splits a record into its fields.
 */
export function splitFields(record, { delimiter, trim }) {
  const fields = [];
  let field = '';
  let quoted = false;
  let wasQuoted = false;
  for (let at = 0; at < record.length; at++) {
    const char = record[at];
    if (quoted) {
      if (char === '"') quoted = false;
      else field += char;
    } else if (char === '"' && field === '') {
      quoted = true;
      wasQuoted = true;
    } else if (char === delimiter) {
      fields.push(finish(field, wasQuoted, trim));
      field = '';
      wasQuoted = false;
    } else {
      field += char;
    }
  }
  fields.push(finish(field, wasQuoted, trim));
  return fields;
}

function finish(field, wasQuoted, trim) {
  return trim && !wasQuoted ? field.trim() : field;
}
