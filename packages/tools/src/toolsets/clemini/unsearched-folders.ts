/** Directories of tools and builds, left out of searches. */
export const unsearchedFolders = ['.git', 'node_modules', 'target', '__pycache__', '.venv'] as const;
