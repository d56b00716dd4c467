// The panel "What the model saw".
import "./opener.css";
export { ReceiptsPanel } from "./ReceiptsPanel";
