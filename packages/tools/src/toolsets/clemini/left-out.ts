/** Directories of tools and builds, which searches leave out. */
export const leftOut = ['.git', 'node_modules', 'target', '__pycache__', '.venv'] as const;
