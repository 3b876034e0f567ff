import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { projectDir, startRegistry } from '../harness/index.ts';

const call = promisify(execFile);

/** Where Python packages come from. */
export interface Pypi extends AsyncDisposable {
  /** The address of the index for pip, and the hosts asked by pip. */
  index: string;
  hosts: string[];
  /** CIDR of the private hosts. */
  addresses: string[];
  /** @returns the archive published by the authors. Its SHA-256 is checked */
  sdist(name: string, version: string, sha256: string): Promise<Buffer>;
}

/** PyPI, or without an answer Debian: its archive has the authors' source archives unchanged, and wheels of the build tools. */
export async function openPypi(): Promise<Pypi> {
  const page = await fetch('https://pypi.org/simple/wheel/', { signal: AbortSignal.timeout(10_000) }).catch(() => null);
  return page?.ok === true ? pypi() : debian();
}

function pypi(): Pypi {
  return {
    index: 'https://pypi.org/simple/',
    hosts: ['pypi.org', 'files.pythonhosted.org'],
    addresses: [],
    async sdist(name, version, sha256) {
      const about = await (await fetch(`https://pypi.org/pypi/${name}/${version}/json`)).json();
      const { urls } = about as { urls: { packagetype: string; url: string }[] };
      const url = urls.find(({ packagetype }) => packagetype === 'sdist')?.url ?? '';
      return checked(Buffer.from(await (await fetch(url)).arrayBuffer()), sha256);
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

/** The wheels are served by an index on loopback. */
async function debian(): Promise<Pypi> {
  const scratch = mkdtempSync(join(tmpdir(), 'hp-projects-debian-'));
  const index = await startRegistry();
  try {
    for (const path of await wheels(scratch)) index.wheelFile(path);
  } catch (error) {
    await index[Symbol.asyncDispose]();
    rmSync(scratch, { recursive: true, force: true });
    throw error;
  }
  return {
    index: `http://${index.host}/simple/`,
    hosts: [index.host],
    addresses: ['127.0.0.1/32'],
    sdist: async (name, _version, sha256) => checked(await sourceArchive(name, scratch), sha256),
    async [Symbol.asyncDispose]() {
      await index[Symbol.asyncDispose]();
      rmSync(scratch, { recursive: true, force: true });
    },
  };
}

function checked(archive: Buffer, sha256: string): Buffer {
  const found = createHash('sha256').update(archive).digest('hex');
  if (found !== sha256) throw new Error(`the source archive has the SHA-256 ${found} instead of ${sha256}`);
  return archive;
}

/** pip's requirements for building a package with setuptools. */
async function wheels(scratch: string): Promise<string[]> {
  const to = join(scratch, 'wheels');
  const script = join(projectDir, 'scripts/get-debian-package.sh');
  const packages = 'python3-setuptools-whl python3-wheel-whl';
  const env = { ...process.env, KEEP_SHARE: '1' };
  await call('sh', [script, to, join(scratch, 'apt'), packages], { env, timeout: 100_000 });
  const folder = join(to, 'usr/share/python-wheels');
  return readdirSync(folder).map((name) => join(folder, name));
}

/** The source package, with lists and settings of its own: machines rarely have the lists of sources. */
async function sourceArchive(name: string, scratch: string): Promise<Buffer> {
  const [sources, state, to] = ['sources', 'source-lists', name].map((part) => join(scratch, part)) as [
    string,
    string,
    string,
  ];
  for (const folder of [sources, join(state, 'lists/partial'), join(state, 'archives/partial'), to]) {
    mkdirSync(folder, { recursive: true });
  }
  if (existsSync('/etc/apt/sources.list.d')) cpSync('/etc/apt/sources.list.d', sources, { recursive: true });
  if (existsSync('/etc/apt/sources.list')) cpSync('/etc/apt/sources.list', join(sources, 'main.list'));
  for (const file of readdirSync(sources).map((one) => join(sources, one))) {
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, text.replace(/^deb(?=[ [])/gm, 'deb-src').replace(/^Types:.*/gm, 'Types: deb-src'));
  }
  const settings = { 'Dir::Etc::SourceList': '/dev/null', 'Dir::Etc::SourceParts': sources };
  const places = { 'Dir::State::Lists': join(state, 'lists'), 'Dir::Cache': state, 'Debug::NoLocking': '1' };
  const options = Object.entries({ ...settings, ...places, 'APT::Sandbox::User': '' });
  const flags = options.flatMap(([key, value]) => ['-o', `${key}=${value}`]);
  await call('apt-get', [...flags, '-q', 'update'], { cwd: to, timeout: 100_000 });
  await call('apt-get', [...flags, '-q', 'source', '--download-only', '--tar-only', name], { cwd: to });
  const archive = readdirSync(to).find((file) => file.includes('.orig.tar.'));
  if (archive === undefined) throw new Error(`Debian has no source archive of ${name}`);
  return readFileSync(join(to, archive));
}
