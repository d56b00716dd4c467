/** The address of the document in which diagrams are drawn. */
declare module "virtual:diagrams" {
  const address: string;
  export default address;
}
