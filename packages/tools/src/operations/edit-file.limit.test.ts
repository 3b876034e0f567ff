import { expect, test } from 'vitest';
import { useWorkspace } from '../testing/workspace.ts';
import { maxTextFile } from '../text-work/text.ts';

const workspace = useWorkspace();

test('an edit that would make a file too large changes nothing', async () => {
  const content = 'a'.repeat(maxTextFile - 10);
  await workspace().put('big.txt', `${content}needle`);
  const args = { path: 'big.txt', old_string: 'needle', new_string: 'x'.repeat(20) };
  const message = `big.txt would have ${maxTextFile + 10} bytes; edit writes at most ${maxTextFile} bytes.`;
  expect(await workspace().call('edit', args)).toMatchObject({
    ...{ status: 'failed', error: { code: 'EFILETOOLARGE', message }, value: { bytes: maxTextFile + 10 } },
  });
  expect(await workspace().preview('edit', args)).toEqual({ kind: 'problem', message });
  expect(await workspace().get('big.txt')).toHaveLength(maxTextFile - 4);
});
