/** The tool to compare with cannot be had on this machine. */
export class MissingTool extends Error {}
