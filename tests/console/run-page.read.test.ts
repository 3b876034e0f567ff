import { expect, test } from 'vitest';
import { allowBash, bash, finished, plan } from '../harness/runs.ts';
import { checkAccess } from './check-access.ts';
import { useConsole, withBrowser } from './use-console.ts';

const console = useConsole();

/** Changes files, prints colours, fails once, and has two groups. */
async function changingRun(title: string): Promise<string> {
  const { run } = await console.client.createRun({
    title,
    policy: { rules: [allowBash] },
    plan: plan(
      [
        bash(
          'mkdir -p src; printf "export const size = 10;\\nexport const name = \\"a\\";\\n" > src/page.ts; echo "# Read me" > README.md',
        ),
        { tool: 'write_file', args: { path: 'notes/today.md', content: 'One line.\nAnother line.\n' } },
      ],
      [bash('printf "\\033[32mok\\033[0m 12 passed\\n\\033[31mfailed\\033[0m 1\\n"; seq 1 300')],
      [bash('sed -i "s/10/20/" src/page.ts; chmod +x README.md')],
    ),
  });
  await finished(console.client, run.id);
  return run.id;
}

withBrowser('the page of a run', () => {
  test('a person logs in with a key and reads the run at the same address', async () => {
    const id = await changingRun('Change the size of a page');
    const page = await console.open(`/runs/${id}`, { key: null, expected: [/status of 401/] });
    await page.getByLabel('Key', { exact: true }).waitFor();
    await checkAccess(page);
    await page.getByLabel('Key', { exact: true }).fill(console.key);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByRole('heading', { name: 'Change the size of a page' }).waitFor();
    expect(new URL(page.url()).pathname).toBe(`/runs/${id}`);
    await page.getByText('4 steps').waitFor();
    await checkAccess(page);
  });

  test('each part of the page has its own address and passes axe', async () => {
    const id = await changingRun('Every part of the page');
    const parts: [name: string, address: string, text: string][] = [
      ['Conversation', 'conversation', 'Turn 1'],
      ['Changes', 'changes', 'export const size = 20;'],
      ['Files', 'files', 'src/page.ts'],
      ['Background', 'tasks', 'Nothing runs in the background'],
      ['Trace', 'trace', 'waiting for people'],
      ['Events', 'events', 'run.created'],
    ];
    const page = await console.open(`/runs/${id}`);
    await page.getByText('4 steps').waitFor();
    for (const [name, address, text] of parts) {
      await page.getByRole('link', { name, exact: true }).click();
      await page.getByText(text).first().waitFor();
      expect(new URL(page.url()).pathname).toBe(`/runs/${id}/${address}`);
      await checkAccess(page);
    }
  });

  test('a step has its own address, with its output and the change that it made', async () => {
    const id = await changingRun('One step');
    const steps = (await console.client.listSteps(id)).data;
    const page = await console.open(`/runs/${id}`);
    await page.locator('.step-link').nth(2).click();
    expect(new URL(page.url()).pathname).toBe(`/runs/${id}/steps/${steps[2]?.id}`);
    await page.getByText('12 passed', { exact: true }).waitFor();
    await page.getByText('succeeded').first().waitFor();
    await checkAccess(page);
    await page.goto(`/runs/${id}/steps/${steps[3]?.id}`);
    await page.getByRole('heading', { name: 'What it changed' }).waitFor();
    await page.getByText('export const size = 20;').waitFor();
    await checkAccess(page);
  });

  test('an unknown run says so, with a way back', async () => {
    const page = await console.open('/runs/run_00000000-0000-7000-8000-000000000000', { expected: [/status of 404/] });
    await page.getByRole('heading', { level: 1, name: 'There is no such run' }).waitFor();
    await checkAccess(page);
  });
});
