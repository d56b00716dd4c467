// What is rendered: Markdown, and whether more of it is still being written.
export type RenderedProps = { text: string; writing: boolean };
