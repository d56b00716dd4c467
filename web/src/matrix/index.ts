// The page that shows what becomes of each kind of file, for every model we know.
export { MatrixPage } from "./MatrixPage";
