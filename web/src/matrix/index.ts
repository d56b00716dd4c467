export { MatrixPage } from "./MatrixPage";
