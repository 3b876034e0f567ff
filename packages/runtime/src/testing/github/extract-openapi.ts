/**
 * Writes `openapi.json`: the operations used by pull requests, out of GitHub's published description of its API. The whole package has
 * 385 MB, so it is no dependency: `npm install --no-save @octokit/openapi@23.0.2`, then `node extract-openapi.ts PATH` with the path of
 * its `generated/api.github.com.json`.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const used: Readonly<Record<string, readonly string[]>> = {
  '/repos/{owner}/{repo}': ['get'],
  '/repos/{owner}/{repo}/branches/{branch}': ['get'],
  '/repos/{owner}/{repo}/pulls': ['get', 'post'],
  '/repos/{owner}/{repo}/pulls/{pull_number}': ['get', 'patch'],
  '/repos/{owner}/{repo}/statuses/{sha}': ['post'],
  '/repos/{owner}/{repo}/commits/{ref}/status': ['get'],
  '/repos/{owner}/{repo}/commits/{ref}/check-runs': ['get'],
  '/repos/{owner}/{repo}/issues/{issue_number}/comments': ['get', 'post'],
  '/repos/{owner}/{repo}/pulls/{pull_number}/comments': ['get'],
  '/repos/{owner}/{repo}/pulls/{pull_number}/comments/{comment_id}/replies': ['post'],
  '/repos/{owner}/{repo}/pulls/{pull_number}/reviews': ['get'],
  '/repos/{owner}/{repo}/collaborators/{username}/permission': ['get'],
  '/repos/{owner}/{repo}/actions/jobs/{job_id}/logs': ['get'],
};

type Node = Record<string, unknown>;
const document = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as Node;
const words = new Set(['description', 'summary', 'example', 'examples', 'externalDocs', 'x-github', 'title', 'tags']);
const kept = new Map<string, unknown>();

/** Drops the words for people, and keeps each part that is referred to. */
function strip(value: unknown, areNames = false): unknown {
  if (Array.isArray(value)) return value.map((one) => strip(one));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([name]) => areNames || !words.has(name));
  for (const [name, one] of entries) if (name === '$ref' && !areNames) keep(String(one));
  return Object.fromEntries(entries.map(([name, one]) => [name, strip(one, !areNames && name === 'properties')]));
}

function keep(reference: string): void {
  if (kept.has(reference)) return;
  kept.set(reference, undefined);
  const parts = reference.slice(2).split('/');
  kept.set(reference, strip(parts.reduce((at, part) => at[part] as Node, document)));
}

const paths = Object.entries(used).map(([path, methods]) => {
  const item = (document.paths as Node)[path] as Node;
  return [path, Object.fromEntries(methods.map((method) => [method, strip(item[method])]))];
});
const components: Record<string, Node> = {};
for (const [reference, value] of kept) {
  const [, , kind = '', name = ''] = reference.split('/');
  components[kind] = { ...components[kind], [name]: value };
}
const { version } = document.info as Node;
const text = JSON.stringify({
  openapi: document.openapi,
  info: { version },
  paths: Object.fromEntries(paths),
  components,
});
writeFileSync(fileURLToPath(new URL('openapi.json', import.meta.url)), `${text}\n`);
