import { escapeText } from './escape.js';
import { parse } from './parse.js';

export function render(template, values) {
  return renderParts(parse(template), values);
}

function renderParts(parts, values) {
  return parts
    .map(({ text, name, raw, list, parts }) => {
      if (text !== undefined) return text;
      if (list !== undefined) return (values[list] || []).map((item) => renderParts(parts, scopeOf(item, values))).join('');
      const value = values[name] ? String(values[name]) : '';
      return raw ? value : escapeText(value);
    })
    .join('');
}

const scopeOf = (item, values) => (typeof item === 'object' ? { ...values, ...item } : { ...values, this: item });
