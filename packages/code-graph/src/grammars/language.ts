/** The graph has facts of these languages. */
export const languages = [
  'typescript',
  'tsx',
  'javascript',
  'python',
  'go',
  'java',
  'rust',
  'ruby',
  'c',
  'cpp',
  'csharp',
  'php',
  'bash',
] as const;
export type Language = (typeof languages)[number];
