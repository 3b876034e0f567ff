const tag = /\{\{\{(\w+)\}\}\}|\{\{#each (\w+)\}\}|\{\{\/each\}\}|\{\{(\w+)\}\}/g;

/** A tree of parts: texts, values and repeated parts. */
export function parse(template) {
  const root = [];
  const open = [root];
  let at = 0;
  for (const { 0: whole, 1: raw, 2: list, 3: name, index } of template.matchAll(tag)) {
    open.at(-1).push({ text: template.slice(at, index) });
    at = index + whole.length;
    if (raw) open.at(-1).push({ name: raw, raw: true });
    else if (list) {
      const parts = [];
      open.at(-1).push({ list, parts });
      open.push(parts);
    } else if (name) open.at(-1).push({ name });
    else open.pop();
  }
  root.push({ text: template.slice(at) });
  return root;
}
