// Starts the page.
import "./strict";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/ui.css";
import "./styles/dialogs.css";
import "./styles/layout.css";
import "./styles/messages.css";
import "./styles/tools.css";
import "./styles/prose.css";
import "./styles/notices.css";
import "./styles/composer.css";
import "./styles/rows.css";
import "./styles/sidebar.css";
import "./styles/models.css";
import "./styles/pages.css";
import "./styles/print.css";
import { render } from "preact";
import { App } from "./App";
import { applyTheme, keptTheme } from "./theme";

applyTheme(keptTheme());
const root = document.getElementById("app");
if (root) render(<App />, root);
