import { withDefaults } from './options.js';

export function stringify(rows, options) {
  const { delimiter } = withDefaults(options);
  const names = Object.keys(rows[0] ?? {});
  const lines = [names, ...rows.map((row) => names.map((name) => row[name]))];
  return lines.map((fields) => `${fields.map((field) => quote(field, delimiter)).join(delimiter)}\n`).join('');
}

function quote(value, delimiter) {
  const text = value === undefined || value === null ? '' : String(value);
  if (!text.includes(delimiter) && !/["\r\n]/.test(text)) return text;
  return `"${text.replaceAll('"', '""')}"`;
}
