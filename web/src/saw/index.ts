// What the model was given of each file, as one answer tells it.
import "./opener.css";
export { SawPanel } from "./SawPanel";
