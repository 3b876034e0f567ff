import { withDefaults } from './options.js';
import { splitFields, splitRecords } from './records.js';

export function parse(text, options) {
  const settings = withDefaults(options);
  const rows = splitRecords(text).map((record) => splitFields(record, settings));
  if (!settings.header) return rows;
  const [names = [], ...rest] = rows;
  return rest.map((row) => Object.fromEntries(names.map((name, at) => [name, row[at] ?? ''])));
}
