/** `npm run bench -- NAME` measures a subject against its floor, in one run. */
const benches = {
  engine: () => import('./engine.ts'),
  crowd: () => import('./crowd.ts'),
  cancel: () => import('./cancel.ts'),
  resume: () => import('./resume.ts'),
  sandbox: () => import('./sandbox.ts'),
  workspace: () => import('./workspace.ts'),
  sources: () => import('./sources.ts'),
  bulk: () => import('./bulk.ts'),
  layers: () => import('./layers.ts'),
  memory: () => import('./memory.ts'),
  keys: () => import('./keys.ts'),
  decide: () => import('./decide.ts'),
  policy: () => import('./policy.ts'),
  model: () => import('./model.ts'),
  live: () => import('./live.ts'),
  pages: () => import('./pages.ts'),
  graph: () => import('./graph.ts'),
  idle: () => import('./idle.ts'),
  lists: () => import('./lists.ts'),
  schedules: () => import('./schedules.ts'),
  webhooks: () => import('./webhooks.ts'),
  steps: () => import('./steps.ts'),
  peers: () => import('./peers.ts'),
  telemetry: () => import('./telemetry.ts'),
  console: () => import('./console.ts'),
  agents: () => import('./agents.ts'),
  mcp: () => import('./mcp.ts'),
  'language-servers': () => import('./language-servers.ts'),
};

const name = process.argv[2] ?? '';
const found = Object.hasOwn(benches, name) ? benches[name as keyof typeof benches] : undefined;
if (found) await found();
else {
  process.stderr.write(`Usage: npm run bench -- ${Object.keys(benches).join(' | ')}\n`);
  process.exitCode = 2;
}
