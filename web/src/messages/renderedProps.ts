// `writing`: the text is still streaming. `marked`: the text with the marks of its footnotes.
export type RenderedProps = { text: string; marked?: string; writing: boolean };
