import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checkAgents } from './check-agents.ts';

test('agents in a folder of toolchains are named; a file that cannot be started is none', async () => {
  const toolchain = mkdtempSync(join(tmpdir(), 'hp-doctor-agents-'));
  const bin = join(toolchain, 'bin');
  mkdirSync(bin);
  const before = await checkAgents({ toolchains: [toolchain] });
  writeFileSync(join(bin, 'codex'), '#!/bin/sh\n');
  expect(await checkAgents({ toolchains: [toolchain] })).toEqual(before);
  chmodSync(join(bin, 'codex'), 0o755);
  const [finding] = await checkAgents({ toolchains: [toolchain] });
  expect(finding).toMatchObject({ name: 'outside agents', level: 'ok' });
  expect(finding?.text).toContain(`codex (${bin})`);
});
