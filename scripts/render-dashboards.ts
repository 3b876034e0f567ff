// Writes the dashboards of Grafana from the tables in scripts/dashboards/pages:
//
//   node scripts/render-dashboards.ts [--check]     --check writes nothing, and fails when a file is not as rendered
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { buildPage } from './dashboards/build-page.ts';
import { pages } from './dashboards/pages/index.ts';

const check = process.argv.includes('--check');
const old: string[] = [];
for (const page of pages) {
  const file = fileURLToPath(new URL(`../infra/grafana/dashboards/${page.name}.json`, import.meta.url));
  const text = `${JSON.stringify(buildPage(page), null, 2)}\n`;
  if (!check) writeFileSync(file, text);
  else if (read(file) !== text) old.push(file);
}
if (old.length > 0) {
  process.stderr.write(`Not as rendered: ${old.join(', ')}. Run npm run dashboards.\n`);
  process.exitCode = 1;
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
