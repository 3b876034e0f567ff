import { chmodSync, chownSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSandbox, type Sandbox } from '@holdpoint/sandbox';
import { bwrapPath } from '@holdpoint/sandbox/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findBrowser, openPageBrowser, type ShotQuery } from './open-browser.ts';

const projectDir = join(import.meta.dirname, '../../../..');
const { HOLDPOINT_CHROMIUM: named, PATH: path = '' } = process.env;
const found = findBrowser({ named, path, projectDir });

const pages: Record<string, string> = {
  'index.html':
    '<title>A shop</title><body style="margin:0;background:#0a0"><img src="/missing.png"><script>console.error("no", "cart"); console.log("quiet"); nowhere()</script>',
  'tall.html': '<body style="margin:0"><div style="height:100000px;width:1px;background:red"></div>',
  'alerts.html': '<script>for (let n = 0; n < 200; n++) alert("again")</script><h1>after</h1>',
  'loop.html': '<script>for (;;);</script>',
  'download.html': '<script>location = "/download"</script><h1>stays</h1>',
  'foreign.html': '<img src="http://example.com/pixel.png"><img src="file:///etc/passwd"><h1>here</h1>',
  'fork.html': '<script>for (;;) { window.open("/fork.html"); new Worker("data:text/javascript,for(;;){}") }</script>',
};
/** Serves the folder, and addresses that never end or lead elsewhere. */
const server = `
import http.server, sys, time
class Handler(http.server.SimpleHTTPRequestHandler):
  def do_GET(self):
    if self.path == '/never': time.sleep(600)
    if self.path == '/download':
      self.send_response(200); self.send_header('content-type', 'application/zip'); self.end_headers(); self.wfile.write(b'x' * 1000); return
    for name, to in [('/away', 'http://example.com/'), ('/file', 'file:///etc/passwd')]:
      if self.path == name:
        self.send_response(302); self.send_header('location', to); self.end_headers(); return
    super().do_GET()
http.server.ThreadingHTTPServer(('127.0.0.1', 8123), Handler).serve_forever()
`;

const factsOf = (image: Buffer) => ({
  isPng: image.subarray(1, 4).toString() === 'PNG',
  ...{ width: image.readUInt32BE(16), height: image.readUInt32BE(20) },
});

describe.skipIf(found === undefined)('a browser in a sandbox', () => {
  let directory: string;
  let sandbox: Sandbox;
  let tree: string;
  const owner = process.getuid?.() === 0 ? 210_000 : (process.getuid?.() ?? 0);
  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'holdpoint-shots-'));
    chmodSync(directory, 0o755);
    tree = join(directory, 'tree');
    mkdirSync(tree);
    for (const [name, text] of Object.entries({ ...pages, 'serve.py': server })) writeFileSync(join(tree, name), text);
    if (process.getuid?.() === 0) chownSync(tree, owner, owner);
    const stateDir = join(directory, 'state');
    mkdirSync(stateDir);
    sandbox = await openSandbox({ policy: 'require', allowUnsandboxed: false, stateDir, bwrapPath });
  });
  afterAll(async () => {
    await sandbox[Symbol.asyncDispose]();
    rmSync(directory, { recursive: true, force: true });
  });

  const shoot = (page: string, more: Partial<ShotQuery> = {}) => {
    if (found === undefined) throw new Error('no browser');
    return openPageBrowser(sandbox, found).shoot({
      mount: { id: 'run_shots', path: tree, uid: owner, gid: owner },
      ...{ serve: 'python3 serve.py', cwd: '.', url: `http://localhost:8123/${page}`, width: 800, height: 600 },
      ...{ whole: false, listen_ms: 20_000, load_ms: 10_000, answer_ms: 5000, most_side: 8000, most_bytes: 3_932_160 },
      ...{ signal: new AbortController().signal, ...more },
    });
  };
  const shown = async (...asked: Parameters<typeof shoot>) => {
    const shot = await shoot(...asked);
    if ('problem' in shot) throw new Error(`${shot.problem}: ${shot.message} ${shot.output ?? ''}`);
    return { ...shot, facts: factsOf(shot.image) };
  };

  test('a page that a command serves, and what its console says', async () => {
    const { facts, ...shot } = await shown('');
    expect(facts).toEqual({ isPng: true, width: 800, height: 600 });
    expect(shot).toMatchObject({ url: 'http://localhost:8123/', status: 200, title: 'A shop', loaded: true });
    expect(shot.console).toEqual([
      'error: no cart',
      expect.stringContaining('uncaught: ReferenceError: nowhere is not defined'),
      expect.stringContaining('404'),
    ]);
    // The tree is read-only, and the profile of the browser is outside.
    expect(readdirSync(tree).sort()).toEqual([...Object.keys(pages), 'serve.py'].sort());
  });

  test('a page of 100,000 px is shown up to the height that a model reads', async () => {
    const shot = await shown('tall.html', { whole: true, width: 400 });
    expect(shot).toMatchObject({ cut: 100_000, facts: { width: 400, height: 8000 } });
    expect((await shown('tall.html')).facts).toMatchObject({ width: 800, height: 600 });
  });

  test.for(['away', 'file'])('a redirect elsewhere shows nothing of it: %s', async (page) => {
    const shot = await shoot(page);
    expect(JSON.stringify({ ...shot, image: '' })).not.toMatch(/root:|Example Domain/);
    expect('problem' in shot ? shot.message : shot.console.join()).toMatch(/cannot be opened|refused/);
  });

  test('a page gets nothing from another host and no file', async () => {
    const { console } = await shown('foreign.html');
    expect(console.join()).toContain('refused: http://example.com/pixel.png is outside the sandbox');
    expect(console.join()).toMatch(/Not allowed to load local resource: file:/);
  });

  test('dialogs are answered, and downloads are refused', async () => {
    const { console, facts } = await shown('alerts.html');
    expect(facts).toMatchObject({ width: 800 });
    expect(console).toHaveLength(51);
    expect(console.at(-1)).toBe('150 more lines');
    // A page that leaves for a download while it loads may draw nothing.
    const download = await shoot('download.html');
    expect('problem' in download ? download.message : download.console.join()).toContain('refused: the download');
  });

  test('a page that never loads, or never stops a script', async () => {
    const never = await shoot('never', { load_ms: 1000 });
    expect('problem' in never ? never.problem : never.loaded).toBe('problem' in never ? 'page' : false);
    expect(await shoot('loop.html', { load_ms: 1000 })).toMatchObject({ problem: 'page' });
  });

  test('a page and a server that start more and more end with their sandbox', async () => {
    const forks = await shoot('fork.html', { load_ms: 2000 });
    if ('problem' in forks) expect(['page', 'browser']).toContain(forks.problem);
    const bomb = await shoot('', { serve: ':(){ :|:& };:', listen_ms: 2000 });
    expect(bomb).toMatchObject({ problem: 'server' });
    expect(await shown('')).toMatchObject({ title: 'A shop' });
  });

  test('a server that ends or never listens is named with its output', async () => {
    expect(await shoot('', { serve: 'echo no such module; exit 3' })).toMatchObject({
      ...{ problem: 'server', message: 'no program listens on port 8123: the command ended with exit code 3' },
      output: 'no such module\n',
    });
    expect(await shoot('', { serve: 'sleep 60', listen_ms: 300 })).toMatchObject({ problem: 'server' });
  });

  test('a canceled call leaves no browser behind', async () => {
    const canceled = new AbortController();
    const shot = shoot('never', { signal: canceled.signal });
    setTimeout(() => canceled.abort(new Error('canceled')), 1500);
    await expect(shot).rejects.toThrow('canceled');
  });
});
