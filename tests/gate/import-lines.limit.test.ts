import { expect, test } from 'vitest';
import { isTest, listCode, measureFile } from '../../scripts/count-imports.ts';

/** The projects that this code is measured against have 4 to 6 %. */
const mostImportLines = 0.06;

test('import lines stay a small part of the source: small files stand with their user, wide imports name their room', () => {
  const files = listCode().filter((file) => !isTest(file));
  let [lines, importLines] = [0, 0];
  for (const file of files) {
    const measured = measureFile(file);
    lines += measured.lines;
    importLines += measured.importLines;
  }
  expect(lines).toBeGreaterThan(100_000);
  expect(importLines / lines).toBeLessThanOrEqual(mostImportLines);
});
