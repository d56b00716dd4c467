// The panel "What the model saw".
import "./opener.css";
export { SawPanel } from "./SawPanel";
