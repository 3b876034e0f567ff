import { test } from 'vitest';
import { allowBash, bash, finished, plan } from '../harness/runs.ts';
import { expectInert, markup } from './expect-inert.ts';
import { hostileWords } from './model-words.ts';
import { useConsole, withBrowser } from './use-console.ts';

const console = useConsole();

const link = "[read](javascript:alert('link'))";
const turned = 'invoice\u202Efdp.exe';
const shownTurned = 'invoice<U+202E>fdp.exe';

withBrowser('hostile text', () => {
  test('in titles, labels, arguments, output and names of files, it stays text', async () => {
    const name = `${turned} <b onclick=alert(1)>.txt`;
    const { run } = await console.client.createRun({
      title: `${markup('title')} ${turned}`,
      labels: { note: markup('label') },
      policy: { rules: [allowBash] },
      plan: plan(
        [bash(`touch '${name}'; printf '%s\\n' "${markup('name').replaceAll("'", '')}" > page.html`, 'write_page')],
        [
          bash(
            `# ${markup('arguments').replaceAll("'", '')} ${link.replaceAll("'", '')}\nprintf '<img src=x onerror=alert(1)>\\n\\033]8;;javascript:alert(1)\\033\\\\click\\033]8;;\\033\\\\\\nzero\\000byte\\n\\342\\200\\256turned\\n'; head -c 300000 /dev/zero | tr '\\0' x`,
          ),
        ],
      ),
    });
    await finished(console.client, run.id);
    const steps = (await console.client.listSteps(run.id)).data;
    const page = await console.open(`/runs/${run.id}`);
    await page.getByRole('heading', { name: markup('title') }).waitFor();
    await page.getByRole('heading', { name: shownTurned }).waitFor();
    await page.getByText("<img src=x onerror=alert('label')>").waitFor();
    await page.getByText('2 steps').waitFor();
    await expectInert(page);
    const parts: [address: string, text: string][] = [
      ['/changes', '<b onclick=alert(1)>.txt'],
      ['/files', '<b onclick=alert(1)>.txt'],
      ['/files?path=page.html', '<img src=x onerror=alert(name)>'],
      ['/trace', 'waiting for people'],
      ['/events', 'run.created'],
      [`/steps/${steps[0]?.id}`, 'Arguments'],
      [`/steps/${steps[1]?.id}`, '<img src=x onerror=alert(arguments)>'],
    ];
    for (const [address, text] of parts) {
      await page.goto(`/runs/${run.id}${address}`);
      await page.getByText(text).first().waitFor();
      await expectInert(page);
    }
    await page.getByText('click', { exact: true }).waitFor();
    await page.getByText('<U+0000>').first().waitFor();
    await page.getByText('<U+202E>').first().waitFor();
  });

  test('of a model, it stays text', async () => {
    const { run } = await console.client.createRun({ prompt: `say hostile words ${markup('prompt')}` });
    await finished(console.client, run.id);
    const page = await console.open(`/runs/${run.id}/conversation`);
    await page.getByText(hostileWords.slice(0, 30)).first().waitFor();
    await page.getByText(markup('prompt')).first().waitFor();
    await expectInert(page);
  });
});
