import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';

/** The modules that a process loads with one file of this folder. */
function loadedWith(file: string): string[] {
  const program = `
    import { registerHooks } from 'node:module';
    registerHooks({ load: (url, context, next) => { console.log(url); return next(url, context); } });
    await import(${JSON.stringify(new URL(file, import.meta.url).href)});`;
  const args = ['--input-type=module', '--eval', program];
  const { stdout, stderr, status } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  expect({ stderr, status }).toEqual({ stderr: '', status: 0 });
  return stdout.trim().split('\n');
}

test('the thread that folds logs into spans loads every event, and no schema', () => {
  const loaded = loadedWith('./open-trace.ts');
  expect(loaded.filter((url) => url.includes('/engine/src/events/')).length).toBeGreaterThan(70);
  expect(loaded.filter((url) => /node_modules\/zod\/|contract\/src\/(index|events)/.test(url))).toEqual([]);
});

test('a file that needs a schema is found', () => {
  expect(loadedWith('./changes-of.ts').some((url) => url.includes('node_modules/zod/'))).toBe(true);
});
