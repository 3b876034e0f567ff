import fc from 'fast-check';
import { parse as parseJsonc } from 'jsonc-parser';
import { parse as parseToml, stringify } from 'smol-toml';
import { describe, expect, test } from 'vitest';
import { mcpClientNames, mcpClients } from './clients.ts';
import { ConfigTextError } from './config-text.ts';

const launch = {
  command: '/opt/holdpoint',
  args: ['mcp', 'serve', '--url', 'http://127.0.0.1:4747', '--key-file', '/k'],
};
const jsonClients = mcpClientNames.filter((name) => name !== 'codex');
const key = fc.stringMatching(/^[a-z][a-z_-]{0,8}$/);
const settings = fc.dictionary(
  key,
  fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.dictionary(key, fc.string(), { maxKeys: 3 })),
  {
    maxKeys: 6,
    noNullPrototype: true,
  },
);

describe.each(mcpClientNames)('%s', (name) => {
  const { text } = mcpClients[name];

  test('an empty file and no file get the entry, and its removal leaves nothing of it', () => {
    for (const before of ['', '\n']) {
      const after = text.add(before, launch);
      expect(text.has(after)).toBe(true);
      expect(after).toContain('/opt/holdpoint');
      const gone = text.remove(after);
      expect(text.has(gone)).toBe(false);
      expect(gone).not.toContain('opt');
    }
    expect(text.show(launch)).toContain('--key-file');
  });
});

test.each(jsonClients)('%s: whatever the file holds stays as it is, beside the entry', (name) => {
  const { text } = mcpClients[name];
  fc.assert(
    fc.property(settings, fc.constantFrom(undefined, 2, 4, '\t'), (given, indent) => {
      const { mcp: _, mcpServers: __, servers: ___, ...free } = given;
      const before = JSON.stringify(free, null, indent);
      const after = text.add(before, launch);
      expect(parseJsonc(after)).toMatchObject(free);
      expect(text.has(after)).toBe(true);
      expect(parseJsonc(text.remove(after))).toEqual(free);
    }),
  );
});

test.each(jsonClients)('%s: a removal leaves the text of a client as it was', (name) => {
  const { text } = mcpClients[name];
  for (const before of ['{\n  "a": 1\n}\n', '{\n  // mine\n  "a": {\n    "b": []\n  }\n}\n'])
    expect(text.remove(text.add(before, launch))).toBe(before);
  const path = name === 'vscode' ? 'servers' : name === 'opencode' ? 'mcp' : 'mcpServers';
  const others = `{\n  "${path}": {\n    "other": {}\n  }\n}\n`;
  expect(text.remove(text.add(others, launch))).toBe(others);
});

test('comments, trailing commas and line ends of the user stay', () => {
  const { text } = mcpClients.vscode;
  const before = '{\r\n  // mine\r\n  "servers": {\r\n    "other": { "command": "x" }, // keep\r\n  },\r\n}\r\n';
  const after = text.add(before, launch);
  expect(after).toContain('// mine\r\n');
  expect(after).toContain('// keep');
  expect(after.replaceAll('\r\n', '')).not.toContain('\n');
  expect(parseJsonc(after).servers.other).toEqual({ command: 'x' });
  expect(parseJsonc(text.remove(after))).toEqual({ servers: { other: { command: 'x' } } });
});

test('TOML: every line of the user stays, byte for byte, and the removal gives the file back', () => {
  const { text } = mcpClients.codex;
  fc.assert(
    fc.property(settings, (given) => {
      const { mcp_servers: _, ...free } = given;
      const before = `# mine\n${stringify(free)}\n[mcp_servers.other]\ncommand = "x" # keep\n`;
      const after = text.add(before, launch);
      expect(after.startsWith(before)).toBe(true);
      expect(parseToml(after)).toMatchObject({
        mcp_servers: { other: { command: 'x' }, holdpoint: { command: '/opt/holdpoint' } },
      });
      expect(text.remove(after)).toBe(before);
    }),
  );
});

test.each([
  ['claude-code', '{\n  "mcpServers": {\n    "a": \n  }\n}', 4],
  ['claude-code', '[]', 1],
  ['gemini', '{\n"mcpServers": []\n}', 2],
  ['codex', 'model = "x"\n[mcp_servers\n', 2],
  ['codex', 'mcp_servers = { other = { command = "x" } }\n', 3],
] as const)('%s: a file that cannot take the entry is refused with the line: %j', (name, before, line) => {
  const { text } = mcpClients[name];
  expect(() => text.add(before, launch)).toThrow(ConfigTextError);
  try {
    text.add(before, launch);
  } catch (error) {
    expect((error as ConfigTextError).line).toBeGreaterThanOrEqual(line);
  }
});

test('an entry that a person wrote is not taken out of a TOML file', () => {
  const { text } = mcpClients.codex;
  const own = '[mcp_servers.holdpoint]\ncommand = "mine"\n';
  expect(text.has(own)).toBe(true);
  expect(() => text.remove(own)).toThrow(ConfigTextError);
});
