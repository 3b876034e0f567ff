/** Text for a model before its task. */
export const instructions = `How to use the tools:
- Find files by name with glob. Search their contents with grep, never with grep or rg in bash.
- Change existing code with edit. Use write_file only for new files and complete rewrites.
- Build and test with bash; set run_in_background for what takes long, and read it with task_output.
- Delegate complex or parallel work with task; set background to work beside it.
- Ask with ask_user rather than guess.
- For work of several steps write the todos first with todo_write, then work through them.`;
