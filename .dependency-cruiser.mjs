import { rooms } from './scripts/imports/rooms.mjs';

/**
 * Which other packages each package may import, and which ones its tests may import as well. ARCHITECTURE.md draws the same arrows.
 * @type {Record<string, {imports: string[], tests?: string[]}>}
 */
const packages = {
  contract: { imports: [] },
  process: { imports: ['contract'] },
  policy: { imports: ['contract'] },
  readable: { imports: [] },
  telemetry: { imports: ['contract', 'process'] },
  egress: { imports: ['contract'] },
  'embedded-redis': { imports: ['contract', 'process'] },
  sandbox: { imports: ['contract', 'process', 'egress'] },
  secrets: { imports: ['contract', 'process'] },
  workspace: { imports: ['contract', 'process'] },
  'code-graph': { imports: ['contract', 'policy', 'process', 'sandbox'], tests: ['workspace'] },
  documents: { imports: ['sandbox'] },
  'language-servers': { imports: ['contract', 'sandbox'] },
  models: { imports: ['contract'] },
  tools: { imports: ['contract', 'process'], tests: ['egress', 'sandbox', 'workspace'] },
  mcp: { imports: ['contract', 'process', 'readable', 'tools'], tests: ['egress', 'sandbox', 'runtime'] },
  'outside-agents': { imports: ['contract', 'models', 'sandbox', 'tools'] },
  engine: { imports: ['contract', 'policy', 'process'], tests: ['embedded-redis'] },
  callers: { imports: ['contract'], tests: ['process', 'embedded-redis'] },
  client: { imports: ['contract'] },
  'mcp-server': { imports: ['contract', 'client', 'readable'] },
  runtime: {
    imports: [
      'contract',
      'policy',
      'readable',
      'telemetry',
      'egress',
      'sandbox',
      'secrets',
      'workspace',
      'code-graph',
      'language-servers',
      'documents',
      'mcp',
      'models',
      'outside-agents',
      'tools',
      'engine',
    ],
    tests: ['process', 'embedded-redis'],
  },
};

/**
 * The same for the apps. The CLI is the operator's hand on every part of a system.
 * @type {typeof packages}
 */
const apps = {
  api: {
    imports: [
      'contract',
      'policy',
      'readable',
      'telemetry',
      'egress',
      'embedded-redis',
      'secrets',
      'workspace',
      'mcp',
      'models',
      'callers',
      'tools',
      'engine',
      'client',
      'mcp-server',
    ],
    tests: ['runtime', 'process'],
  },
  cli: {
    imports: [
      'contract',
      'process',
      'policy',
      'readable',
      'telemetry',
      'egress',
      'embedded-redis',
      'sandbox',
      'documents',
      'workspace',
      'mcp',
      'models',
      'callers',
      'tools',
      'engine',
      'client',
      'mcp-server',
      'runtime',
    ],
    tests: [],
  },
  // Types of contract alone: the build fails when zod reaches a bundle.
  console: { imports: ['contract', 'readable'], tests: [] },
  worker: {
    imports: ['embedded-redis', 'engine', 'mcp', 'models', 'runtime', 'secrets', 'telemetry', 'tools', 'workspace'],
    tests: [],
  },
};

const test = '\\.test\\.ts$|/testing/|/fixtures/|^(tests|bench)/|^apps/console/tests/';
const engine = '^packages/engine/src/';

/**
 * The rules of a package or an app: the packages for its code, and those for its tests.
 * @param {string} folder
 * @param {string} name
 * @param {{imports: string[], tests?: string[]}} allowed
 */
function layerRules(folder, name, { imports, tests = [] }) {
  const own = (/** @type {string[]} */ more) =>
    `^(${[folder, ...more.map((other) => `packages/${other}`)].join('|')})/`;
  // Another app is the matter of the rule apps-apart.
  const others = folder.startsWith('apps/') ? '^packages/' : '^(packages|apps)/';
  return [
    {
      name: `layer-${name}`,
      comment: `${folder} may import: ${imports.join(', ') || 'no other package'}.`,
      from: { path: `^${folder}/`, pathNot: test },
      to: { path: others, pathNot: own(imports) },
    },
    {
      name: `layer-${name}-tests`,
      comment: `Tests of ${folder} may import: ${[...imports, ...tests].join(', ') || 'no other package'}.`,
      from: { path: `^${folder}/.*(${test})` },
      to: { path: others, pathNot: own([...imports, ...tests]) },
    },
  ];
}

/** @param {string[]} some */
const anyOf = (some) => `(${some.flatMap((room) => room.split(' ')).join('|')})(/|\\.(tsx?|d\\.ts|css)$)`;

/**
 * The rules of a package: a room imports no room before it, and every room is in the list.
 * @param {[string, string[]]} entry
 */
function roomRules([name, order]) {
  const src = `^${name}/src/`;
  const from = (/** @type {string} */ room) => ({ path: src + anyOf([room]), pathNot: test });
  return [
    ...order.slice(1).map((room, n) => ({
      name: `rooms-${name}`,
      comment: `${room} is below ${order.slice(0, n + 1).join(', ')}: scripts/imports/rooms.mjs has the order.`,
      from: from(room),
      to: { path: src + anyOf(order.slice(0, n + 1)) },
    })),
    {
      name: `rooms-${name}-listed`,
      comment: 'A new folder or file of `src` has a place in scripts/imports/rooms.mjs.',
      from: { path: src, pathNot: [`${src}(${anyOf(order)}|index\\.ts$)`, test] },
      to: {},
    },
  ];
}

const rules = [
  ...Object.entries(rooms).flatMap(roomRules),
  ...Object.entries(packages).flatMap(([name, allowed]) => layerRules(`packages/${name}`, name, allowed)),
  ...Object.entries(apps).flatMap(([name, allowed]) => layerRules(`apps/${name}`, `app-${name}`, allowed)),
  {
    name: 'apps-apart',
    comment: 'An app imports no other app.',
    from: { path: '^apps/([^/]+)/' },
    to: { path: '^apps/', pathNot: '^apps/$1/' },
  },
  {
    name: 'package-through-door',
    comment: 'A relative path stays in its package. Import `@holdpoint/…`, an entry point of the other package.',
    from: { path: '^(apps|packages)/([^/]+)/' },
    to: { dependencyTypes: ['local'], dependencyTypesNot: ['aliased'], pathNot: '^$1/$2/' },
  },
  {
    name: 'package-through-door-outside',
    comment: 'Tests, benches and examples import `@holdpoint/…`, an entry point of the package.',
    from: { pathNot: '^(apps|packages)/' },
    to: { dependencyTypes: ['local'], dependencyTypesNot: ['aliased'], path: '^(apps|packages)/' },
  },
  {
    name: 'door-for-outsiders',
    comment: 'A file imports its own package from the file that has the name, not from the entry point.',
    from: { path: '^(apps|packages)/([^/]+)/src/', pathNot: test },
    to: { path: '^$1/$2/src/index\\.ts$' },
  },
  {
    name: 'resolvable',
    comment:
      'The import resolves to no file: `exports` in the package.json of the other package lists its entry points.',
    from: {},
    to: { couldNotResolve: true },
  },
  {
    name: 'no-cycle',
    comment: 'Files import each other in a circle, type-only imports included.',
    from: {},
    to: { circular: true },
  },
  {
    name: 'no-test-code',
    comment: 'Code that is not a test imports no test, no fake and no fixture.',
    from: { pathNot: test },
    to: { path: test },
  },
  {
    name: 'contract-pure',
    comment: 'packages/contract needs zod alone.',
    from: { path: '^packages/contract/', pathNot: test },
    to: { pathNot: '^(packages|apps)/|node_modules/zod/' },
  },
  {
    name: 'policy-pure',
    comment: 'packages/policy reads no file, no clock and no network: of the modules of Node, crypto and path alone.',
    from: { path: '^packages/policy/', pathNot: test },
    to: { dependencyTypes: ['core'], pathNot: '^(crypto|path)$' },
  },
  {
    name: 'client-light',
    comment: 'packages/client installs without bullmq, ioredis and pino.',
    from: { path: '^packages/client/', pathNot: test },
    to: { path: 'node_modules/(bullmq|ioredis|pino)/', reachable: true },
  },
  {
    name: 'programs-without-vitest',
    comment:
      'A program of its own loads vitest through no helper: what it does at import may fail outside the processes of vitest.',
    from: {
      path: '^examples/|^tests/(chaos|conformance)/|/(host|testing)/(.*-(process|memory|at-point|and-stop|until-killed)|put-policies)\\.ts$',
      pathNot: '\\.test\\.ts$',
    },
    to: { path: 'node_modules/vitest/', reachable: true },
  },
  {
    name: 'engine-domain-pure',
    comment: 'The domain imports packages/contract, packages/policy, zod, node:crypto and itself.',
    from: { path: `${engine}domain/`, pathNot: test },
    to: { pathNot: `${engine}domain/|^packages/(contract|policy)/|node_modules/zod/|^crypto$` },
  },
];

export default {
  forbidden: rules.map((rule) => ({ ...rule, severity: 'error' })),
  options: {
    tsPreCompilationDeps: true,
    moduleSystems: ['es6'],
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^examples/repos/|^tests/tasks/[^/]+/(repo|hidden)/|^apps/console/dist' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['node', 'import'],
      extensions: ['.ts', '.tsx', '.mjs', '.js'],
    },
  },
};
