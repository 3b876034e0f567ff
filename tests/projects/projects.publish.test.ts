import { execFile } from 'node:child_process';
import { lookup } from 'node:dns/promises';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { RunDetail, RunEvent } from '@holdpoint/contract/wire';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { git, type ModelServer, openModelServer, useSystem } from '../harness/index.ts';
import { openPypi, type Pypi } from './pypi.ts';

/** A package that has its own tests in the registry, and a defect that they find. */
interface Project {
  name: string;
  version: string;
  /** For a Python package: the SHA-256 of its source archive. */
  sha256?: string;
  install: string;
  test: string;
  file: string;
  right: string;
  wrong: string;
}

const projects: Project[] = [
  {
    ...{ name: 'minimist', version: '1.2.8', install: 'npm install --no-save tape@5', test: `npx tape 'test/*.js'` },
    ...{ file: 'index.js', right: '(/^0x[0-9a-f]+$/i).test(x)) { return true; }' },
    wrong: '(/^0x[0-9a-f]+$/i).test(x)) { return false; }',
  },
  {
    ...{
      name: 'fastq',
      version: '1.20.3',
      install: 'npm install --ignore-scripts',
      test: 'npx tape test/test.js test/promise.js',
    },
    ...{ file: 'queue.js', right: 'return _running === 0 && self.length() === 0' },
    wrong: 'return _running === 0 || self.length() === 0',
  },
  {
    ...{ name: 'secure-json-parse', version: '4.1.1', install: 'npm install --ignore-scripts' },
    ...{ test: `npx tape 'test/*.test.js'`, file: 'index.js' },
    ...{ right: 'text.charCodeAt(0) === 0xFEFF', wrong: 'text.charCodeAt(0) === 0xFEFE' },
  },
  {
    ...{ name: 'pyasn1', version: '0.4.8' },
    sha256: 'aef77c9fb94a3ac588e87841208bdec464471d9871bd5050a287cc9a475cd0ba',
    install: 'python3 -m venv .venv && .venv/bin/pip install --use-pep517 --editable .',
    test: '.venv/bin/python -m unittest tests.__main__.suite',
    ...{ file: 'pyasn1/codec/ber/encoder.py', right: 'res = (0x80 | (subOid & 0x7f),) + res' },
    wrong: 'res = (0x40 | (subOid & 0x7f),) + res',
  },
];

const call = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'hp-projects-'));
const registry = new URL(process.env.npm_config_registry ?? 'https://registry.npmjs.org/');
let model: ModelServer;
let reached: string;
let pypi: Pypi;
/** What the model does in the run of the present test. */
let project: Project;
beforeAll(async () => {
  reached = (await lookup(registry.hostname)).address;
  pypi = await openPypi();
  model = await openModelServer(({ results }) => answers[results.length]?.() ?? { text: 'The tests pass again.' });
});
afterAll(async () => {
  await model[Symbol.asyncDispose]();
  await pypi[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

/** Runs the tests, repairs what they found, runs them again. */
const answers = [
  () => ({
    text: 'I run the tests first.',
    calls: [{ tool: 'bash', args: { command: project.test } }],
  }),
  () => {
    const { file: path, wrong: old_string, right: new_string } = project;
    return { text: 'I repair it.', calls: [{ tool: 'edit', args: { path, old_string, new_string } }] };
  },
  () => ({ calls: [{ tool: 'bash', args: { command: project.test } }] }),
];

const system = useSystem({
  env: () => ({
    // A mirror of a registry may have an address that is not public.
    HOLDPOINT_ALLOW_ADDRESSES: [`${reached}/32`, ...pypi.addresses].join(','),
    HOLDPOINT_MODEL: 'openai-compatible/test',
    OPENAI_COMPATIBLE_BASE_URL: `${model.url}/v1`,
    OPENAI_COMPATIBLE_API_KEY: 'test-key',
  }),
});
const { client } = system;

/** A repository with the package as it was published, and the defect. */
async function sourceOf(one: Project): Promise<string> {
  const { name, file, right, wrong } = one;
  const path = join(folder, name);
  mkdirSync(path, { recursive: true });
  const archive = join(folder, `${name}.archive`);
  writeFileSync(archive, await archiveOf(one));
  await call('tar', ['xf', archive, '--strip-components=1'], { cwd: path });
  writeFileSync(join(path, '.gitignore'), 'node_modules/\npackage-lock.json\n.venv/\n__pycache__/\n*.egg-info/\n');
  const text = readFileSync(join(path, file), 'utf8');
  expect(text.split(right)).toHaveLength(2);
  writeFileSync(join(path, file), text.replace(right, wrong));
  await git(path, 'init', '-q', '-b', 'main');
  await git(path, 'add', '-A');
  const author = ['-c', 'user.name=test', '-c', 'user.email=test@localhost'];
  await git(path, ...author, 'commit', '-qm', 'as published, with a defect');
  return path;
}

async function archiveOf({ name, version, sha256 }: Project): Promise<Buffer> {
  if (sha256 !== undefined) return pypi.sdist(name, version, sha256);
  const packed = await call('npm', ['pack', `${name}@${version}`, '--silent'], { cwd: folder });
  return readFileSync(join(folder, packed.stdout.trim()));
}

const bundle = '/etc/ssl/certs/ca-certificates.crt';

/** The command that installs what the tests need, and the hosts that it asks. */
function installation({ install, sha256 }: Project): { command: string; hosts: string[] } {
  if (sha256 !== undefined) {
    return { command: `export PIP_CERT=${bundle} PIP_INDEX_URL=${pypi.index}; ${install}`, hosts: pypi.hosts };
  }
  const options = `--no-audit --no-fund --registry ${registry.href}`;
  return { command: `NODE_EXTRA_CA_CERTS=${bundle} ${install} ${options}`, hosts: [registry.host] };
}

async function run(path: string): Promise<RunDetail> {
  const { command, hosts } = installation(project);
  const { run } = await client.createRun({
    prompt: 'The tests fail. Find out why, and repair it.',
    workspace: { source: { type: 'git', path } },
    prepare: { commands: [{ command }], network: { allow: hosts } },
    validators: [{ command: project.test }],
  });
  return client.waitForRun(run.id, { until: ({ status }) => !['queued', 'running'].includes(status) });
}

/** Milliseconds from the copy of the source to the end of the preparation, and until its first command, or what stands for it, began. */
async function preparation(runId: string): Promise<{ ms: number; beforeMs: number; cached: boolean }> {
  const { data } = await client.listEvents(runId, { limit: 500 });
  const at = (type: RunEvent['type']) => Date.parse(data.find((event) => event.type === type)?.time ?? '');
  const prepared = data.find((event) => event.type === 'workspace.prepared');
  const from = at('workspace.materialised');
  const [beforeMs, ms] = [at('workspace.preparing') - from, at('workspace.prepared') - from];
  return { ms, beforeMs, cached: prepared?.data.cached === true };
}

describe.for(projects)('$name', (one) => {
  test('is prepared, tested, repaired and published; the next run takes its preparation over', async () => {
    project = one;
    const path = await sourceOf(one);
    const first = await run(path);
    expect(first, first.reason?.message).toMatchObject({ status: 'succeeded', message: 'The tests pass again.' });
    const [found, , passes] = (await client.listSteps(first.id)).data;
    expect(found, 'the tests find the defect').toMatchObject({ tool: 'bash', status: 'failed' });
    expect(passes).toMatchObject({ tool: 'bash', status: 'succeeded' });
    expect((await client.diff(first.id)).files.map((file) => file.path)).toEqual([one.file]);
    // The API answers before validators have ended that take long.
    await client.publish(first.id);
    const published = await client.waitForRun(first.id, {
      until: ({ publication }) => !['none', 'requested'].includes(publication.status),
    });
    expect(published.publication).toMatchObject({ status: 'published' });
    const branch = `holdpoint/${first.id}`;
    expect(await git(path, 'diff', '--name-only', 'main', branch)).toBe(one.file);
    expect(await git(path, 'show', `${branch}:${one.file}`)).toContain(one.right);

    const second = await run(path);
    expect(second.status).toBe('succeeded');
    const [cold, warm] = [await preparation(first.id), await preparation(second.id)];
    expect([cold.cached, warm.cached]).toEqual([false, true]);
    const times = ({ ms, beforeMs }: typeof cold) => `${ms} ms (${beforeMs} ms before the first command)`;
    const ratio = (warm.ms / cold.ms).toFixed(2);
    process.stdout.write(`${one.name}: prepared in ${times(cold)}, then in ${times(warm)}: ${ratio} (target 0.2)\n`);
  });
});
