// `writing`: the text is still streaming.
export type RenderedProps = { text: string; writing: boolean };
